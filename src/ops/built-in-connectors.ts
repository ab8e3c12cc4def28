import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MODULE_ENDING, PROJECT_ROOT } from './project.ts';

/** Folders to copy, not connectors to run. */
const TEMPLATES = /^template/;

/**
 * Returns the names of the built-in connectors: the folders of `connectors/` with an index module.
 * None of them is imported.
 */
export function builtInTypes(root = PROJECT_ROOT): string[] {
  return foldersWith('index', root);
}

/** Returns the built-in connectors that have commands, in their module `commands`. */
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
