import { defineConfig } from 'vitest/config';

// Tests write configurations, and eligd refuses one that the group can change.
process.umask(0o022);

/** `npm run test:office`: the office page in Debian's Chromium, its schedule in LibreOffice. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
