import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constantHtml, type Html, html } from '../../src/office/html.ts';

test('text that looks like markup is escaped', () => {
  const name = `<script>alert("1")</script> & 'Söhne' \`x\``;
  const escaped =
    '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;Söhne&#39; &#96;x&#96;';
  expect(html`<p title="${name}">${name}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
});

test('markup is kept, lists are joined, and missing values are left out', () => {
  const items = ['a', 'b<'].map((each) => html`<li>${each}</li>`);
  expect(html`<ul>${items}${null}${false}${undefined}${0}</ul>`.text).toBe(
    '<ul><li>a</li><li>b&lt;</li>0</ul>',
  );
  expect(html`${constantHtml('<br>')}`.text).toBe('<br>');
});

test('an object that only looks like markup is refused', () => {
  const forged = JSON.parse('{"text":"<img src=x onerror=alert(1)>","made by html":true}') as Html;
  expect(() => html`${forged}`).toThrow('not markup');
  expect(() => html`<a href=${'x onclick=alert(1)'}>x</a>`).toThrow('quotes');
});

test('no text can end the attribute or element that contains it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const inside = html`<p title="${text}">${text}</p>`.text.slice('<p title="'.length, -4);
      expect(inside.match(/[<>"'`]/g)).toEqual(['"', '>']);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
      expect(inside).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
    }),
    { numRuns: 50 },
  );
});
