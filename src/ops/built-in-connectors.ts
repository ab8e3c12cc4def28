import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MODULE_ENDING, PROJECT_ROOT } from './project.ts';

/** Folders to copy, not connectors to run. */
const TEMPLATES = /^template/;

/**
 * Names of the connectors that come with eligd: the folders of `connectors/` that have an index
 * module. None of them is imported.
 */
export function builtInTypes(root = PROJECT_ROOT): string[] {
  return foldersWith('index', root);
}

/** Those of them that bring commands of their own, which are in their module `commands`. */
export function builtInTypesWithCommands(root = PROJECT_ROOT): string[] {
  return foldersWith('commands', root);
}

function foldersWith(module: string, root: string): string[] {
  const folder = join(root, 'connectors');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() &&
        !TEMPLATES.test(entry.name) &&
        existsSync(join(folder, entry.name, `${module}${MODULE_ENDING}`)),
    )
    .map((entry) => entry.name)
    .sort();
}
