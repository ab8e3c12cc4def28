// Who may import whom (src/ARCHITECTURE.md). `npm run imports` checks it, and test/imports.test.ts plants violations.
const ours = '^(src|connectors|migrations)/';

/** Files under `from` may import, of our own files, only what matches one of `allowed`. */
const only = (from, allowed) => ({
  name: `${from.replaceAll(/[\^$\\]/g, '')} imports only what its row allows`,
  severity: 'error',
  from: { path: from },
  to: { path: ours, pathNot: allowed },
});

module.exports = {
  forbidden: [
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'everything resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('^src/domain/', ['^src/domain/', '^src/records/']),
    only('^src/records/', ['^src/records/', '^src/domain/']),
    {
      name: 'records take only types from domain',
      severity: 'error',
      from: { path: '^src/records/' },
      to: { path: '^src/domain/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain takes only types from records',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: '^src/records/', dependencyTypesNot: ['type-only'] },
    },
    only('^src/store/', ['^src/store/', '^src/domain/', '^src/records/', '^migrations/']),
    only('^src/service/', ['^src/service/', '^src/domain/', '^src/records/']),
    only('^connectors/contract\\.ts$', ['^src/domain/', '^src/records/']),
    only('^connectors/suite\\.ts$', ['^connectors/contract\\.ts$', '^src/domain/', '^src/records/']),
    only('^connectors/([^/]+)/', ['^connectors/$1/', '^connectors/contract\\.ts$', '^src/domain/', '^src/records/']),
    {
      name: 'stages never import each other',
      severity: 'error',
      from: { path: '^src/stages/([^/.]+)' },
      to: { path: '^src/stages/', pathNot: ['^src/stages/loop\\.ts$', '^src/stages/$1'] },
    },
    only('^src/stages/', [
      '^src/stages/',
      '^src/domain/',
      '^src/records/',
      '^src/store/',
      '^src/service/',
      '^connectors/contract\\.ts$',
    ]),
    only('^src/http/', ['^src/http/', '^src/store/', '^src/domain/', '^src/service/signature\\.ts$']),
    only('^src/ops/', ['^src/ops/', '^src/domain/', '^connectors/contract\\.ts$']),
    only('^src/sandbox/', ['^src/sandbox/']),
    {
      name: 'cli imports neither stages nor main',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/(stages/|main\\.ts$)' },
    },
    {
      name: 'only run, once and demo import the daemon',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: '^src/cli/(run|once|demo)\\.ts$' },
      to: { path: '^src/daemon\\.ts$' },
    },
    {
      name: 'the daemon imports neither cli nor main',
      severity: 'error',
      from: { path: '^src/daemon\\.ts$' },
      to: { path: '^src/(cli/|main\\.ts$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types'],
    },
  },
};
