import type { AllCounts, SituationCounts } from '../store/views/overview.ts';

/** Counts appointments and claims by situation in one line; zero counts are left out. */
export function summaryLine({ claims, ...appointments }: AllCounts): string {
  const [said, of_claims] = [summaryOf(appointments), summaryOf(claims)];
  if (said === '' && of_claims === '') return 'No appointments yet.';
  return [said, of_claims === '' ? '' : `Claims: ${of_claims}`]
    .filter((part) => part !== '')
    .join(' ');
}

function summaryOf(counts: SituationCounts): string {
  const closed = Object.entries(counts.closed).map(
    ([reason, count]) =>
      `${count} ${reason === 'cancelled' ? 'canceled' : reason.replaceAll('_', ' ')}`,
  );
  const parts: [number, string][] = [
    [counts.delivered, 'delivered'],
    [counts.answered, 'answered and not written back yet'],
    [counts.asking, 'being asked'],
    [counts.planned, 'to be sent'],
    [counts.waiting, 'waiting'],
    [counts.attention, counts.attention === 1 ? 'needs attention' : 'need attention'],
  ];
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (closed.length > 0) said.push(`closed: ${closed.join(', ')}`);
  return said.length === 0 ? '' : `${said.join(', ')}.`;
}
