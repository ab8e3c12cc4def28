/**
 * Visits to a dentist, a doctor, and a therapist, and their claims, from start to end through each
 * connector.
 */
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { CODE, claim, NPI, SPECIALTIES, visit, WAYS } from '../support/ways.ts';

/** A clinic with one connector, whose export has one visit and one claim for each specialty. */
async function begin(name: string) {
  const machine = setMachineClock();
  const service = await startService();
  const { connector, offer, written } = await WAYS[name]!();
  const providers = {
    [NPI.medical]: { specialty: 'medical', place_of_service: '11' },
    [NPI.mental_health]: { specialty: 'mental_health' },
  };
  const clinic = makeClinic({
    base_url: service.url,
    config: { connectors: [connector], providers },
  });
  await offer(clinic, SPECIALTIES.map(visit), SPECIALTIES.map(claim));
  return { machine, service, clinic, written };
}

test.each(Object.keys(WAYS))(
  'visits and claims of three specialties go through %s, each in its own words',
  async (name) => {
    const { machine, service, clinic, written } = await begin(name);
    await clinic.once();
    type Asked = {
      path: string;
      type: string;
      benefits_codes: string[];
      benefits_query?: string[];
      place_of_service?: string;
    };
    const asked = (await service.ledger()).map(
      ({ specialty, request }) => ({ ...request, path: specialty }) as unknown as Asked,
    );
    const about = ({ path, type, benefits_codes }: Asked) =>
      [path, type, ...benefits_codes].join(' ');
    expect(asked.map(about).sort()).toEqual(
      SPECIALTIES.flatMap((path) =>
        ['BENEFITS', 'CLAIMS_STATUS'].map((type) => `${path} ${type} ${CODE[path]}`),
      ).sort(),
    );
    for (const one of asked) {
      expect(one.place_of_service).toBe(one.path === 'medical' ? '11' : undefined);
      if (one.type === 'CLAIMS_STATUS')
        expect(one).toMatchObject({ claims_date_of_service: '12-10-2029' });
      else expect(one.benefits_query).toContain('CODE_LOOKUP_BENEFITS');
    }

    machine.pass({ days: 3 });
    await clinic.once();
    machine.pass({ days: 2 });
    await clinic.once();
    const { visits, claims } = await written(clinic);
    for (const [index, specialty] of SPECIALTIES.entries()) {
      const ours = visits.filter(
        (text) =>
          text.includes(`Quillfeather-${index + 1}`) || text.includes(`Patient/P-${index + 1}`),
      );
      expect(ours).toHaveLength(1);
      // Every connector writes the verdict and its caution.
      expect(ours[0]).toMatch(/(Eligible|Needs attention|Incomplete|NOT ELIGIBLE) on 01\/11/);
      expect(ours[0]).toMatch(
        new RegExp(`${CODE[specialty]}: (payable|NOT payable|needs authorization|unknown)`),
      );
      expect(ours[0]).toMatch(
        /From what the insurance company said on the phone; not a guarantee of payment\./,
      );
    }
    for (const specialty of SPECIALTIES) {
      const ours = claims.filter((text) => text.includes(CODE[specialty]));
      expect(ours).toHaveLength(1);
      expect(ours[0]).toMatch(/paid/);
    }
    expect([visits.length, claims.length]).toEqual([3, 3]);
    expect(await service.ledger()).toHaveLength(6);
  },
);
