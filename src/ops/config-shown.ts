import type { Config } from './config.ts';

/** The configuration in the shape of the file, so that what is shown could be used as one. */
export function shownConfig(config: Config): Record<string, unknown> {
  const { file: _, folder: __, ...values } = config;
  return {
    ...values,
    connectors: config.connectors.map(({ id, type, options }) => ({
      id,
      type,
      ...(isRecord(options) ? options : {}),
    })),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
