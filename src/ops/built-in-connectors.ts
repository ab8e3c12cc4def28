import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project.ts';

/** Folders to copy, not connectors to run. */
const TEMPLATES = /^template/;

/**
 * Names of the connectors that come with eligd: the folders of `connectors/` that have an index.ts.
 * None of them is imported.
 */
export function builtInTypes(root = PROJECT_ROOT): string[] {
  return foldersWith('index.ts', root);
}

/** Those of them that bring commands of their own, which are in their commands.ts. */
export function builtInTypesWithCommands(root = PROJECT_ROOT): string[] {
  return foldersWith('commands.ts', root);
}

function foldersWith(file: string, root: string): string[] {
  const folder = join(root, 'connectors');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() &&
        !TEMPLATES.test(entry.name) &&
        existsSync(join(folder, entry.name, file)),
    )
    .map((entry) => entry.name)
    .sort();
}
