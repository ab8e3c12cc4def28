/** Metrics that count what happened, and a dashboard and rules that use only existing metrics. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const FOLDER = join(import.meta.dirname, '../../config/prometheus');
const RULES = join(FOLDER, 'eligd-rules.yml');

let page: string;

/** The value of a time series, by its name and labels on the page. */
function seriesOf(series: string): number | null {
  const line = page.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

/** A daemon with a few visits, until every answer is written. */
beforeAll(async () => {
  const machine = setMachineClock();
  const service = await startService();
  const port = await freePort();
  const clinic = makeClinic({
    base_url: service.url,
    config: { monitoring: { listen: `127.0.0.1:${port}` }, schedule: { pull_seconds: 0.05 } },
  });
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  const scrape = async () =>
    await fetch(`http://127.0.0.1:${port}/metrics`)
      .then((response) => response.text())
      .catch(() => '');
  try {
    await vi.waitFor(
      async () => expect(await scrape()).toContain('eligd_health{question="calls"} 1'),
      { timeout: 60_000 },
    );
    clinic.drop('export.csv', exportOf(visits(5)));
    await vi.waitFor(
      async () => {
        machine.pass({ hours: 1 });
        page = await scrape();
        const written = 'eligd_deliveries_total{connector="front-desk",result="delivered"}';
        expect(seriesOf(written)).toBeGreaterThanOrEqual(5);
      },
      { timeout: 120_000, interval: 300 },
    );
  } finally {
    stop.abort();
    await run;
    await daemon.close();
  }
}, 240_000);

describe('/metrics', () => {
  test('metrics count calls by outcome and payer, requests, records, and deliveries', () => {
    const calls = page
      .split('\n')
      .filter((line) => line.startsWith('eligd_calls_total{'))
      .map((line) => Number(line.split(' ').at(-1)));
    const ended = calls.reduce((sum, each) => sum + each, 0);
    expect(ended).toBeGreaterThan(0);
    // eligd sent every call that has ended, and each took some time.
    expect(seriesOf('eligd_answer_duration_seconds_count')).toBe(ended);
    expect(page).toMatch(
      /^eligd_calls_total\{outcome="\w+",payer="DELTA_DENTAL_OF_ILLINOIS"\} \d/m,
    );
    expect(seriesOf('eligd_calls_sent_total')).toBeGreaterThanOrEqual(5);
    expect(seriesOf('eligd_records_total')).toBeGreaterThanOrEqual(ended);
    expect(page).toMatch(
      /^eligd_service_requests_total\{kind="(create|create_bulk)",result="ok"\} /m,
    );
    expect(seriesOf('eligd_service_request_duration_seconds_count{kind="list"}')).toBeGreaterThan(
      0,
    );
    expect(seriesOf('eligd_delivery_duration_seconds_count')).toBeGreaterThanOrEqual(5);
    expect(seriesOf('eligd_commit_duration_seconds_count')).toBeGreaterThan(0);
    expect(page).toContain('# TYPE eligd_webhook_deliveries_total counter');
  });

  test('metrics name units and kinds as Prometheus requires', () => {
    const types = [...page.matchAll(/^# TYPE (eligd_\w+) (\w+)$/gm)];
    expect(types.length).toBeGreaterThan(20);
    for (const [, name = '', type] of types) {
      expect({ name, ends: name.endsWith('_total') }).toEqual({ name, ends: type === 'counter' });
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(page).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
    }
  });

  test('metrics pass "promtool check metrics", if promtool is installed', () => {
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    if (error !== undefined) return console.info('promtool is not installed: not checked.');
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });
});

describe('the dashboard and the alert rules', () => {
  const dashboard = JSON.parse(readFileSync(join(FOLDER, 'eligd-dashboard.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
    templating: { list: { query: string }[] };
  };
  const rules = parse(readFileSync(RULES, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };

  test('the dashboard and the rules use only existing metrics', () => {
    const expressions = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...dashboard.templating.list.map(({ query }) => query),
      ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ];
    const named = expressions.flatMap(
      (each) => each.match(/\b(?:eligd|process|nodejs)_\w+/g) ?? [],
    );
    const known = new Set(
      [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test('the rules pass "promtool check rules", if promtool is installed', () => {
    const { error, status, stderr } = spawnSync('promtool', ['check', 'rules', RULES], {
      encoding: 'utf8',
    });
    if (error !== undefined) return console.info('promtool is not installed: not checked.');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
