import { connectorSuite } from '../../connectors/conformance/suite.ts';
import csv from '../../connectors/csv/index.ts';
import { claimsExportOf, dropFolder, exportOf } from './csv/support.ts';

connectorSuite('csv', {
  type: csv,
  makePms: async () => {
    const folder = await dropFolder();
    return {
      config: { folder: folder.path },
      offer: ({ name, appointments, broken_items = [] }) =>
        folder.drop(`${name}.csv`, exportOf(appointments, broken_items)),
      offerGarbage: (text) => folder.drop('garbage.csv', text),
      offerClaims: ({ name, claims }) => folder.drop(`claims-${name}.csv`, claimsExportOf(claims)),
      unacknowledged: async () =>
        (await folder.names('inbox')).length + (await folder.names('processing')).length,
      written: () => folder.contents('outbox'),
      close: () => folder.remove(),
    };
  },
});
