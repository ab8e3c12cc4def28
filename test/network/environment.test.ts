/** The proxy for an address by HTTPS_PROXY, HTTP_PROXY, and NO_PROXY. */
import { describe, expect, test } from 'vitest';
import { proxyOfEnvironment } from '../../src/network/environment.ts';

const of = (address: string, variables: Record<string, string>) =>
  proxyOfEnvironment(new URL(address), (name) => variables[name] ?? null)?.host ?? null;

const BOTH = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'http://plain:3128' };

describe('the proxy', () => {
  test.each([
    ['https://a.example', BOTH, 'secure:3128'],
    ['http://a.example', BOTH, 'plain:3128'],
    ['https://a.example', { HTTP_PROXY: 'http://plain:3128' }, 'plain:3128'],
    ['http://a.example', { HTTPS_PROXY: 'http://secure:3128' }, null],
    ['https://a.example', { HTTPS_PROXY: 'up:3128', https_proxy: 'low:3128' }, 'low:3128'],
    ['https://a.example', { HTTPS_PROXY: 'socks5://up:1080' }, null],
    ['https://a.example', {}, null],
  ])('the proxy of %s with %j is %s', (address, variables, expected) => {
    expect(of(address, variables)).toBe(expected);
  });
});

describe('NO_PROXY', () => {
  test.each([
    ['ehr.example', 'https://ehr.example', true],
    ['ehr.example', 'https://fhir.ehr.example', true],
    ['.ehr.example', 'https://ehr.example', true],
    ['*.ehr.example', 'https://fhir.ehr.example', true],
    ['*.ehr.example', 'https://ehr.example', false],
    ['ehr.example', 'https://notehr.example', false],
    ['EHR.Example.', 'https://ehr.example./', true],
    ['a.example, ehr.example', 'https://ehr.example', true],
    ['ehr.example:8443', 'https://ehr.example:8443', true],
    ['ehr.example:8443', 'https://ehr.example', false],
    ['ehr.example:443', 'https://ehr.example', true],
    ['*', 'https://ehr.example', true],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['fd00::/8', 'https://[fd12::1]', true],
    ['[fd12::1]:443', 'https://[fd12::1]', true],
    ['', 'https://localhost:8700', true],
    ['', 'https://127.0.0.1:8700', true],
    ['', 'https://[::1]:8700', true],
    ['', 'https://ehr.example', false],
  ])('NO_PROXY "%s" excludes %s: %s', (no_proxy, address, is_spared) => {
    const found = of(address, { HTTPS_PROXY: 'http://secure:3128', NO_PROXY: no_proxy });
    expect(found).toBe(is_spared ? null : 'secure:3128');
  });
});
