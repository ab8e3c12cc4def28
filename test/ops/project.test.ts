import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shippedFile } from '../../src/ops/project.ts';

test('an installed eligd names its own files by their place', () => {
  const root = mkdtempSync(join(tmpdir(), 'eligd-root-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const manifest = join(root, 'package.json');
  writeFileSync(manifest, '{"installed": true}');
  expect(shippedFile('config/example.yaml', root)).toBe(join(root, 'config/example.yaml'));
  writeFileSync(manifest, '{}');
  expect(shippedFile('config/example.yaml', root)).toBe('config/example.yaml');
});
