import { defineConfig } from 'vitest/config';

// Tests write configurations, and eligd refuses one that the group can change.
process.umask(0o022);

/** `npm run test:encrypted`: the store's tests again, on an encrypted database. */
export default defineConfig({
  test: {
    include: ['test/store/**/*.test.ts'],
    // These tests choose the key themselves.
    exclude: ['test/store/encryption.test.ts', 'test/store/recode.test.ts'],
    setupFiles: ['test/encrypted/key.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
  },
});
