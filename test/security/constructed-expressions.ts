/**
 * A child process: loads the given modules, and prints as JSON the expressions that they build from
 * strings while they load. It runs in Node itself, because a test runner loads modules differently.
 */
type Constructed = { file: string; source: string; flags: string };

const files = process.argv.slice(2);
const found: Constructed[] = [];
const Own = RegExp;
globalThis.RegExp = new Proxy(Own, {
  construct: (target, given: [RegExp | string, string?], asked) => {
    const made = Reflect.construct(target, given, asked) as RegExp;
    const caller = new Error().stack?.split('\n')[2] ?? '';
    const [file] = /(?:src|connectors)\/[^:]+$/.exec(caller.replace(/:\d+:\d+\)?$/, '')) ?? [];
    if (typeof given[0] === 'string' && !caller.includes('node_modules') && file !== undefined)
      found.push({ file, source: made.source, flags: made.flags });
    return made;
  },
});
for (const file of files) await import(file);
globalThis.RegExp = Own;
process.stdout.write(JSON.stringify(found));
