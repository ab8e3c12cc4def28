import { defineConfig } from 'vitest/config';

// Tests write configurations, and eligd refuses one that a group can change.
process.umask(0o022);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
});
