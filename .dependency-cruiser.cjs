// Who may import whom (src/ARCHITECTURE.md). `npm run imports` checks it, and test/imports.test.ts
// plants a violation of every rule and sees it found.
const { Visitor } = require('@swc/core/Visitor.js');

// The visitor of swc 1.16, with which dependency-cruiser walks a file, does not know `using` and
// ends with "Unknown statement type". It is taught here; test/imports.test.ts has a file with it.
const visitStatement = Visitor.prototype.visitStatement;
Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  statement.decls = this.visitVariableDeclarators(statement.decls);
  return statement;
};

const ours = '^(src|connectors|migrations)/';

/** Files under `from` may import, of our own files, only what matches one of `allowed`. */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: ours, pathNot: allowed },
});

/** Files under `from` may import what is under `to` with `import type` only. */
const onlyTypes = (name, from, to) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: to, dependencyTypesNot: ['type-only'] },
});

/** Nothing but the files under `allowed` may import what is under `to`. */
const onlyFrom = (name, allowed, to) => ({
  name,
  severity: 'error',
  from: { pathNot: allowed },
  to: { path: to },
});

module.exports = {
  forbidden: [
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'everything resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('domain imports domain and records', '^src/domain/', ['^src/domain/', '^src/records/']),
    only('records import records and domain', '^src/records/', ['^src/records/', '^src/domain/']),
    onlyTypes('domain takes only types from records', '^src/domain/', '^src/records/'),
    // Both read the service's word for how an inquiry ended, dates and times in one place.
    onlyTypes(
      'records take only types from domain',
      '^src/records/',
      '^src/domain/(?!(outcome|time)\\.ts$)',
    ),
    only('store imports domain and records', '^src/store/', [
      '^src/store/',
      '^src/domain/',
      '^src/records/',
      '^migrations/',
    ]),
    only('the network imports domain', '^src/network/', ['^src/network/', '^src/domain/']),
    onlyFrom(
      'connectors get their connections from eligd',
      '^src/|^connectors/conformance/',
      '^src/network/',
    ),
    {
      name: 'connections are made in one place',
      severity: 'error',
      from: { path: ours, pathNot: '^src/(network|sandbox)/' },
      to: { path: '(^|/)node_modules/undici/', dependencyTypesNot: ['type-only'] },
    },
    only('service imports domain, records and the network', '^src/service/', [
      '^src/service/',
      '^src/network/',
      '^src/domain/',
      '^src/records/',
    ]),
    only(
      'the contract imports domain and records',
      '^connectors/(contract|deliveries|network)\\.ts$',
      ['^connectors/(deliveries|network)\\.ts$', '^src/domain/', '^src/records/'],
    ),
    onlyTypes(
      'the contract takes only types',
      '^connectors/(contract|deliveries|network)\\.ts$',
      ours,
    ),
    only('a connector imports the contract, domain and records', '^connectors/([^/]+)/', [
      '^connectors/$1/',
      // Of these, only the conformance suite: see "connectors get their connections from eligd".
      '^src/network/',
      '^connectors/contract\\.ts$',
      '^src/domain/',
      '^src/records/',
    ]),
    {
      name: 'MLLP imports neither in nor out',
      severity: 'error',
      from: { path: '^connectors/hl7/mllp/' },
      to: { path: '^connectors/hl7/(in|out)/' },
    },
    onlyFrom('nothing names a connector', '^connectors/', '^connectors/[^/]+/'),
    onlyFrom(
      'the conformance suite stays in tests',
      '^connectors/conformance/',
      '^connectors/conformance/',
    ),
    {
      name: 'stages never import each other',
      severity: 'error',
      from: { path: '^src/stages/([^/.]+)' },
      to: {
        path: '^src/stages/',
        pathNot: ['^src/stages/(loop|connector-state)\\.ts$', '^src/stages/$1/'],
      },
    },
    only('stages import domain, records, store, service and the contract', '^src/stages/', [
      '^src/stages/',
      '^src/domain/',
      '^src/records/',
      '^src/store/',
      '^src/service/',
      '^connectors/contract\\.ts$',
    ]),
    only('http imports store, domain and the signature', '^src/http/', [
      '^src/http/',
      '^src/store/',
      '^src/domain/',
      '^src/service/signature\\.ts$',
    ]),
    only('office imports domain, records, store, ops and the server', '^src/office/', [
      '^src/office/',
      '^src/domain/',
      '^src/records/',
      '^src/store/',
      '^src/ops/',
      '^src/http/server\\.ts$',
    ]),
    onlyFrom(
      'only the daemon, commands and office import the office',
      '^src/(office|daemon|cli)/',
      '^src/office/',
    ),
    only('ops imports domain, the network and the contract', '^src/ops/', [
      '^src/ops/',
      '^src/network/',
      '^src/domain/',
      '^connectors/contract\\.ts$',
    ]),
    only('the sandbox imports nothing of ours', '^src/sandbox/', ['^src/sandbox/']),
    only('migrations import nothing of ours', '^migrations/', ['^migrations/']),
    {
      name: 'cli imports neither stages nor main',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/(stages/|main\\.ts$)' },
    },
    {
      name: 'no command imports another',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: '^src/cli/commands\\.ts$' },
      to: { path: '^src/cli/commands/' },
    },
    onlyFrom(
      'only run, once, demo, preview, cost and purge import the daemon',
      '^src/(cli/commands/(run|once|demo|preview|cost|purge)\\.ts$|daemon/)',
      '^src/daemon/',
    ),
    {
      name: 'the daemon imports neither cli nor main',
      severity: 'error',
      from: { path: '^src/daemon/' },
      to: { path: '^src/(cli/|main\\.ts$)' },
    },
    onlyFrom(
      'SQLite and kysely stay in store',
      '^(src/store/|src/sandbox/|migrations/)|(^|/)node_modules/',
      '(^|/)node_modules/(@types/)?(better-sqlite3(-multiple-ciphers)?|kysely)/',
    ),
    onlyFrom(
      'node-cron stays in the daemon and the configuration',
      '^src/daemon/|^src/ops/config-values\\.ts$|(^|/)node_modules/',
      '(^|/)node_modules/node-cron/',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json', '.d.ts'],
      // @medplum/fhirtypes holds nothing but types.
      mainFields: ['module', 'main', 'types'],
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types'],
    },
  },
};
