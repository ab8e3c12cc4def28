import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { asNobody, configText, describeTwoUsers, eligd, makeFolder, ROOT } from './users.ts';

const NOBODY = 65_534;
const CSV = 'id: front-desk, type: csv, folder: ./dropbox';

/** The attacker's module writes the ID of the user that ran it. */
const proofModule = (proof: string) => `
import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(proof)}, String(process.geteuid()));
export default {
  name: 'x',
  config: { safeParse: (data) => ({ success: true, data }) },
  create: () => ({}),
};
`;

describeTwoUsers('another user of the machine', () => {
  test('another user cannot make root run code from a compile cache', () => {
    const shared = makeFolder(0o1777);
    const proof = join(makeFolder(0o777), 'proof');
    poisonCache(shared, proof);
    const { status, stdout } = eligd(['--version'], {
      cwd: '/',
      environment: { TMPDIR: shared },
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d/) });
    expect(existsSync(proof)).toBe(false);
    // Nor with the variable that names a cache.
    const [cache = ''] = readdirSync(shared);
    const environment = { NODE_COMPILE_CACHE: join(shared, cache) };
    eligd(['--version'], { cwd: '/', environment });
    expect(existsSync(proof)).toBe(false);
  });

  test('another user cannot make root use a configuration and code from their folder', () => {
    const his = makeFolder(0o777);
    const proof = join(makeFolder(0o777), 'proof');
    writeFileSync(join(his, 'note.mjs'), proofModule(proof));
    writeFileSync(join(his, 'note.yaml'), configText('id: x, type: ./module.mjs'));
    asNobody(
      'mkdir config; cp note.mjs config/module.mjs; cp note.yaml config/eligd.yaml; ' +
        'chmod 644 config/*',
      his,
    );
    const { status, stderr } = eligd(['status'], { cwd: his });
    expect(existsSync(proof)).toBe(false);
    expect({ status, stderr }).toEqual({
      status: 78,
      stderr: expect.stringContaining(`does not use ${join(his, 'config/eligd.yaml')}`),
    });
    // Even if root names it, it is not his to give.
    const named = eligd(['status', '--config', 'config/eligd.yaml'], { cwd: his });
    expect(existsSync(proof)).toBe(false);
    expect(named).toMatchObject({
      status: 78,
      stderr: expect.stringContaining(`belongs to another user (user ID ${NOBODY})`),
    });
  });

  test('another user cannot own a file that eligd trusts, or a folder or link to it', () => {
    const folder = makeFolder();
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    const file = join(inner, 'eligd.yaml');
    writeFileSync(file, configText(CSV));
    const shown = (path = file) => {
      const { status, stderr } = eligd(['config', 'show', '--config', path], { cwd: '/' });
      return { status, stderr };
    };
    expect(shown()).toEqual({ status: 0, stderr: '' });

    const refused = { status: 78, stderr: expect.stringContaining('belongs to another user') };
    for (const path of [file, inner, folder]) {
      chownSync(path, NOBODY, NOBODY);
      expect(shown(), path).toEqual(refused);
      chownSync(path, 0, 0);
    }
    // A link in a public folder belongs to the user who made it.
    const shared = makeFolder(0o1777);
    asNobody(`ln -s ${file} ${join(shared, 'link.yaml')}`, '/');
    expect(shown(join(shared, 'link.yaml'))).toEqual(refused);
    symlinkSync(file, join(shared, 'own-link.yaml'));
    expect(shown(join(shared, 'own-link.yaml')).status).toBe(0);

    writeFileSync(join(inner, '.env'), '', { mode: 0o600 });
    chownSync(join(inner, '.env'), NOBODY, NOBODY);
    const checked = eligd(['check', '--config', file], { cwd: '/' });
    expect(checked.stdout).toMatch(/!! secrets: .*belongs to another user/);
  });
});

/**
 * Node keeps compiled TypeScript in its cache, guarded by checksums alone: the attacker replaces
 * that of cli/program.ts in the cache of user ID 0, before root has one.
 */
function poisonCache(shared: string, proof: string): void {
  const sample = makeFolder();
  const node = join(ROOT, 'node_modules/.bin/node');
  spawnSync(node, [join(ROOT, 'src/main.ts'), '--version'], {
    env: { NODE_COMPILE_CACHE: sample },
  });
  const [tag = ''] = readdirSync(sample);
  const entry = readdirSync(join(sample, tag)).find((name) =>
    readFileSync(join(sample, tag, name)).includes('* Runs one command line (without'),
  );
  if (entry === undefined) throw new Error('The cache does not hold cli/program.ts.');
  const code = Buffer.from(
    `${proofModule(proof)}\nexport const runCli = async () => { console.log('0.0.0'); return 0; };`,
  );
  const head = readFileSync(join(sample, tag, entry)).subarray(0, 20);
  head.writeUInt32LE(code.length, 8);
  head.writeUInt32LE(crc32(code), 16);
  writeFileSync(join(sample, 'poison'), Buffer.concat([head, code]));
  chmodSync(join(sample, 'poison'), 0o644);
  asNobody(
    `mkdir -p node-compile-cache/${tag}; ` +
      `cp ${join(sample, 'poison')} node-compile-cache/${tag}/${entry}`,
    shared,
  );
}
