/** Loads the style sheet and the script that eligd serves to browsers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const asset = (name: string) => readFileSync(join(import.meta.dirname, 'assets', name), 'utf8');

export const STYLE = asset('office.css');
export const SCRIPT = asset('office.js');
