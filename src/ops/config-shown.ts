import type { Config } from './config.ts';

/** Returns the configuration in the form of the file, so that the output can be used as a file. */
export function shownConfig(config: Config): Record<string, unknown> {
  const { file: _, folder: __, ...values } = config;
  return {
    ...values,
    connectors: config.connectors.map(({ id, type, has_exports, expected_by, options }) => ({
      id,
      type,
      ...(has_exports ? { expected_by } : {}),
      ...(isRecord(options) ? options : {}),
    })),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
