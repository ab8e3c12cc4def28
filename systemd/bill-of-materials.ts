/**
 * Lists the content of the package: for programs (CycloneDX), and for people (every license in
 * full).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'better-sqlite3';

/** An entry of package-lock.json, by its path. */
export type LockedPackage = {
  version: string;
  dev?: boolean;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
};

type Parts = {
  /** The working copy, with its packages installed. */
  root: string;
  /** The folder for `sbom.cdx.json` and `copyright`. */
  folder: string;
  version: string;
  /** Seconds since 1970; part of the bill, so that the same commit gives the same bytes. */
  made_at: number;
  packages: Readonly<Record<string, LockedPackage>>;
  /** Where Node's package is, which npm may have downloaded for another machine. */
  installed: string;
};

type Component = { 'bom-ref': string; type: string; name: string; version: string } & Record<
  string,
  unknown
>;
type Bill = {
  metadata: { component: Component } & Record<string, unknown>;
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
} & Record<string, unknown>;

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i;

export function writeBillOfMaterials(parts: Parts): void {
  const { root, folder, version, made_at, packages, installed } = parts;
  const bill = billOf(root, version, made_at, packages);
  const serialNumber = uuidOf(JSON.stringify(bill));
  writeFileSync(
    join(folder, 'sbom.cdx.json'),
    `${JSON.stringify({ ...bill, serialNumber }, null, 2)}\n`,
  );
  const licenses = Object.entries(packages).map(([path, locked]) =>
    licenseOf(existsSync(join(installed, path)) ? installed : root, path, locked),
  );
  const head =
    'eligd itself is not licensed to the public. It includes the programs below, each under ' +
    'its own license.\n';
  writeFileSync(join(folder, 'copyright'), [head, ...licenses].join('\n\n'));
}

/**
 * Returns npm's bill without packages that only build or test, and with the two programs that
 * packages contain in compiled form.
 */
function billOf(root: string, version: string, made_at: number, packages: Parts['packages']): Bill {
  const said = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const { serialNumber: _, ...bill } = JSON.parse(said) as Bill;
  const own = bill.metadata.component['bom-ref'];
  const inside = new Set(
    Object.entries(packages).map(([path, locked]) => `${nameOf(path)}@${locked.version}`),
  );
  const isInside = (ref: string) => inside.has(ref) || ref === own;
  const components = bill.components.filter((each) => isInside(each['bom-ref']));
  if (components.length !== inside.size)
    throw new Error(`The bill of materials has ${components.length} of ${inside.size} packages.`);
  const dependencies = bill.dependencies
    .filter(({ ref }) => isInside(ref))
    .map((each) => ({ ...each, dependsOn: (each.dependsOn ?? []).filter(isInside) }));
  const timestamp = new Date(made_at * 1000).toISOString();
  // npm uses the name of the build folder.
  const component = {
    ...bill.metadata.component,
    type: 'application',
    name: 'eligd',
    version,
    purl: `pkg:generic/eligd@${version}`,
  };
  return {
    ...bill,
    metadata: { ...bill.metadata, timestamp, component },
    components: [...components, ...compiled()],
    dependencies,
  };
}

/**
 * Returns programs without an npm package name, so that a comparison with vulnerability lists finds
 * them.
 */
function compiled(): Component[] {
  const drivers = ['better-sqlite3', 'better-sqlite3-multiple-ciphers'];
  const sqlites = [...new Set(drivers.map(sqliteOf))];
  return [
    { name: 'node', vendor: 'nodejs', product: 'node.js', version: process.versions.node },
    ...sqlites.map((version) => ({
      name: 'sqlite',
      vendor: 'sqlite',
      product: 'sqlite',
      version,
    })),
  ].map(({ name, vendor, product, version }) => ({
    'bom-ref': `compiled:${name}@${version}`,
    type: 'application',
    name,
    version,
    purl: `pkg:generic/${name}@${version}`,
    cpe: `cpe:2.3:a:${vendor}:${product}:${version}:*:*:*:*:*:*:*`,
  }));
}

function sqliteOf(driver: string): string {
  const open: typeof Database = createRequire(import.meta.url)(driver);
  const raw = new open(':memory:');
  try {
    return raw.prepare('select sqlite_version()').pluck().get() as string;
  } finally {
    raw.close();
  }
}

function licenseOf(root: string, path: string, { version, license }: LockedPackage): string {
  const files = readdirSync(join(root, path)).filter((name) => LICENSE_FILE.test(name));
  const texts = files.map((name) => readFileSync(join(root, path, name), 'utf8').trim());
  const title = `${nameOf(path)} ${version}, ${license ?? 'see below'}`;
  const body = texts.length === 0 ? 'Its package has no license file.' : texts.join('\n\n');
  return `${title}\n${'='.repeat(title.length)}\n\n${body}\n`;
}

function nameOf(path: string): string {
  return path.split('node_modules/').at(-1) ?? path;
}

/** Returns a UUID derived from the text (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return `urn:uuid:${[...groups, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')}`;
}
