import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type { ConnectorType } from '../../../connectors/contract.ts';
import { builtInTypes } from '../../ops/built-in-connectors.ts';
import type { Config } from '../../ops/config.ts';
import { shownConfig } from '../../ops/config-shown.ts';
import { loadConnectorType } from '../../ops/connectors.ts';
import { eventsPage } from '../../ops/events-page.ts';
import { configJsonSchema, type JsonSchema } from '../../ops/json-schema.ts';
import { configNotes } from '../../ops/profile.ts';
import { PROJECT_ROOT } from '../../ops/project.ts';
import { configuredSecrets, secretStatus } from '../../ops/secrets.ts';
import { claimJsonSchema } from '../../records/claim-status.ts';
import { deliveryJsonSchema } from '../../records/delivery.ts';
import { eligibilityJsonSchema } from '../../records/eligibility.ts';
import { type CliContext, verbatim } from '../context.ts';
import { printJson } from '../output.ts';

export function register(command: Command, context: CliContext): void {
  command.description('Prints the JSON Schema of the configuration, or the effective values.');
  command
    .command('schema')
    .description(
      'Prints the JSON Schema of the configuration. An editor uses it to complete keys and ' +
        'mark mistakes.',
    )
    .option(
      '--write',
      'write all schemas to config/schemas/, and the page of log events to docs/, instead',
    )
    .addHelpText(
      'after',
      `
Examples:
  eligd config schema > eligd.schema.json
  To use it, begin the configuration with the line
    # yaml-language-server: $schema=./eligd.schema.json
`,
    )
    .action(async (options: { write?: true }) => {
      if (options.write) context.stdout.write(`${(await writeSchemas()).join('\n')}\n`);
      else printJson(context.stdout, await configSchemaWithConnectors());
    });

  command
    .command('show')
    .description(
      'Prints the effective values, including every default. Secrets are named, not shown.',
    )
    .option('--json', 'as JSON: {"config": …, "secrets": [{"name", "state"}], "notes": […]}')
    .addHelpText(
      'after',
      `
Examples:
  eligd config show
  eligd config show --config /etc/eligd/eligd.yaml --json
`,
    )
    .action(async (options: { json?: true }) => {
      const config = await context.config();
      const source = await context.secrets();
      const secrets = secretStatus(source, configuredSecrets(config));
      const notes = configNotes(config).map(({ what, next }) => `${what} ${next}`);
      if (options.json) printJson(context.stdout, { config: shownConfig(config), secrets, notes });
      else verbatim(context.stdout).write(shownYaml(config, secrets, notes));
    });
}

function shownYaml(
  config: Config,
  secrets: { name: string; state: string }[],
  notes: string[],
): string {
  const lines = [
    `# In effect: ${config.file} and the defaults.`,
    stringify(shownConfig(config), { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd(),
    '# Secrets:',
    ...secrets.map(({ name, state }) => `#   ${name}: ${state}`),
    ...notes.map((note) => `# Note: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
}

async function configSchemaWithConnectors(): Promise<JsonSchema> {
  return configJsonSchema(
    (await builtInConnectors()).map(({ type, connector: { config } }) => ({
      type,
      schema: config,
    })),
  );
}

async function builtInConnectors(): Promise<{ type: string; connector: ConnectorType }[]> {
  return await Promise.all(
    builtInTypes().map(async (type) => ({ type, connector: await loadConnectorType(type) })),
  );
}

/**
 * Returns the files that are generated from the program, by path from config/; a test compares them
 * with the committed ones.
 */
export async function generatedFiles(): Promise<Record<string, string>> {
  const schemas = {
    'config.schema.json': await configSchemaWithConnectors(),
    'delivery.schema.json': deliveryJsonSchema(),
    'eligibility.schema.json': eligibilityJsonSchema(),
    'claim.schema.json': claimJsonSchema(),
  };
  const texts = Object.entries(schemas).map(([name, schema]) => [
    `schemas/${name}`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ]);
  return {
    ...Object.fromEntries(texts),
    '../docs/events.md': eventsPage((await builtInConnectors()).map(({ connector }) => connector)),
  };
}

async function writeSchemas(): Promise<string[]> {
  const folder = join(PROJECT_ROOT, 'config');
  mkdirSync(join(folder, 'schemas'), { recursive: true });
  return Object.entries(await generatedFiles()).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
}
