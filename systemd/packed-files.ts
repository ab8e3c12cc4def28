/** Which files of an installed package the clinic's server needs. */

/** What packages bring next to what runs: sources, tests, measurements, pages, other systems. */
const NOT_RUN = [
  /^better-sqlite3(?:-multiple-ciphers)?\/(?:deps|src)(?:\/|$)/,
  // Of libraries that come as two kinds of modules, the one that eligd imports.
  /^nodemailer\/dist\/cjs(?:\/|$)/,
  /^pdfkit\/js\/pdfkit\.js$/,
  /^fflate\/(?:umd|lib\/(?:browser|worker))/,
  /^@swc\/helpers\/_(?:\/|$)/,
  /\/pako\/dist(?:\/|$)/,
  // Of PDFKit and its font reader, what Node loads; of the fonts, the two on the sheet.
  /^pdfkit\/(?:\.yarn|tools|types|js\/pdfkit\.(?:browser|old|standalone))/,
  /^@swc\/helpers\/(?:src|scripts)(?:\/|$)/,
  /^fontkit\/(?:dist\/(?:browser|main)|src)/,
  /^brotli\/(?:build|enc)/,
  /^dejavu-fonts-ttf\/(?!package\.json|ttf$|ttf\/DejaVuSansCondensed(?:-Bold)?\.ttf$|LICENSE)./,
  /\/(?:tests?|__tests__|benchmarks?|bench|examples?|docs|\.github)(?:\/|$)/,
  /\.(?:map|markdown|ya?ml|taprc|gyp|gypi|h|html|sh)$/,
  /(?<!\.d)\.[cm]?ts$/,
];
/** Types, but not zod's and undici's: those of `eligd/connector` name them. */
const TYPES = /^(?!zod\/|undici\/).*\.d\.[cm]?ts$/;
/** Debian's policy wants the licence in full; bill-of-materials.ts reads it. */
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * Whether the package for `architecture` (as Node names it: x64, arm64) takes a file or a folder.
 * `path` is relative to node_modules. Of the eight binaries of each of the two SQLites
 * only the one of this system is needed: the others take 33 MB. Of a package that is not loaded at
 * run time, because the built program has its code, the licence and the types are left.
 * (A connector of the clinic's own brings its zod; it takes only the types from here.)
 */
export function isPacked(
  path: string,
  { architecture, is_run }: { architecture: string; is_run: boolean },
): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^better-sqlite3(?:-multiple-ciphers)?\/prebuilds\/./.test(path))
    return name === `linux-${architecture}.node`;
  if (LICENCE.test(name)) return true;
  if (/\.md$/i.test(name)) return false;
  if (!is_run && /\.(?:[cm]?js|json)$/.test(name) && name !== 'package.json') return false;
  return !TYPES.test(path) && !NOT_RUN.some((pattern) => pattern.test(path));
}
