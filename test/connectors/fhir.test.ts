import type { Appointment } from '@medplum/fhirtypes';
import { connectorSuite } from '../../connectors/conformance/suite.ts';
import fhir from '../../connectors/fhir/index.ts';
import { claimResourcesOf, resourcesOf } from '../support/fhir/records.ts';
import { startPeer } from '../support/fhir/start.ts';

connectorSuite('fhir', {
  type: fhir,
  makePms: async () => {
    const peer = await startPeer();
    return {
      holds_everything: true,
      config: { base_url: peer.url, auth: 'none', poll_minutes: 0, claims_days: 90 },
      offer: async ({ name, appointments, broken_items = [] }) => {
        for (const appointment of appointments) await peer.put(...resourcesOf(appointment));
        for (const [i, comment] of broken_items.entries()) {
          const participant: Appointment['participant'] = [
            { actor: { reference: `Patient/gone-${i}` }, status: 'accepted' },
          ];
          await peer.put({
            resourceType: 'Appointment',
            id: `broken-${name}-${i}`,
            status: 'booked',
            comment,
            start: '2026-11-24T15:00:00Z',
            participant,
          });
        }
      },
      offerClaims: async ({ claims }) => {
        for (const claim of claims) await peer.put(...claimResourcesOf(claim));
      },
      // Open work only: completed work stays in the chart as history and is not on the list.
      written: async () => {
        const tasks = (await peer.all('Task')).filter(({ status }) => status === 'requested');
        const written = [
          ...(await peer.all('CoverageEligibilityRequest')),
          ...(await peer.all('CoverageEligibilityResponse')),
          ...(await peer.all('ClaimResponse')),
          ...(await peer.all('Provenance')),
          ...tasks,
        ];
        // Ids and versions are the server's own.
        return written
          .map((resource) =>
            JSON.stringify(resource).replaceAll(
              /"[0-9a-f-]{36}"|(?:Request|Response)\/[0-9a-f-]{36}|"lastUpdated":"[^"]*"/g,
              '…',
            ),
          )
          .sort();
      },
      close: () => peer.close(),
    };
  },
});
