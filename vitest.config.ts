import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Tests write configurations, and eligd refuses one that a group can change.
process.umask(0o022);

const SCENARIOS = join(import.meta.dirname, 'test/scenarios/');

/**
 * Runs the scenarios first. In a fresh clone, Vitest starts with the largest files; the test of the
 * kills, which takes longest, is small and would run last, on one processor.
 */
class ScenariosFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isScenario = ({ moduleId }: TestSpecification) => moduleId.startsWith(SCENARIOS);
    return (await super.sort(files)).toSorted(
      (a, b) => Number(isScenario(b)) - Number(isScenario(a)),
    );
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    sequence: { sequencer: ScenariosFirst },
  },
});
