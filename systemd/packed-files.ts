/** Selects the files of an installed package that the clinic's server needs. */

/**
 * Files of packages that are not needed at run time: sources, tests, benchmarks, pages, other
 * systems.
 */
const NOT_RUN = [
  /^better-sqlite3(?:-multiple-ciphers)?\/(?:deps|src)(?:\/|$)/,
  // For libraries with two kinds of modules: the kind that eligd does not import.
  /^nodemailer\/dist\/cjs(?:\/|$)/,
  /^pdfkit\/js\/pdfkit\.js$/,
  /^fflate\/(?:umd|esm\/browser|lib\/(?:browser|worker|index))/,
  /^(?:linebreak|unicode-properties)\/dist\/main\.cjs$/,
  /^@noble\/(?:ciphers|hashes)\/(?:src|[^/]+\.js)(?:\/|$)/,
  /^@swc\/helpers\/_(?:\/|$)/,
  /\/pako\/dist(?:\/|$)/,
  // For PDFKit and its font reader: files that Node does not load; for the fonts: all except the
  // two on the sheet.
  /^pdfkit\/(?:\.yarn|tools|types|js\/pdfkit\.(?:browser|old|standalone))/,
  /^@swc\/helpers\/(?:src|scripts)(?:\/|$)/,
  /^fontkit\/(?:dist\/(?:browser|main)|src)/,
  /^brotli\/(?:build|enc|dec\/dictionary(?:-browser|\.bin))/,
  /^pdfkit\/js\/data\/(?!Helvetica\.)./,
  /^dejavu-fonts-ttf\/(?!package\.json|ttf$|ttf\/DejaVuSansCondensed(?:-Bold)?\.ttf$|LICENSE)./,
  /\/(?:tests?|__tests__|benchmarks?|bench|examples?|docs|\.github)(?:\/|$)/,
  /\.(?:map|markdown|ya?ml|taprc|gyp|gypi|h|html|sh|mk|stamp|d)$/,
  /\/(?:(?:binding\.)?Makefile|\.(?:gitattributes|npmignore|prettierignore))$/,
  // Types for CommonJS, and of the previous version: the contract is an ES module.
  /\.d\.cts$/,
  /^zod\/(?:src|v3|mini|v4-mini|v4\/mini)(?:\/|$)/,
  /(?<!\.d)\.[cm]?ts$/,
];
/** Types, except zod's and undici's, which the types of `eligd/connector` name. */
const TYPES = /^(?!zod\/|undici\/).*\.d\.[cm]?ts$/;
/** Debian's policy requires the full license; bill-of-materials.ts reads it. */
const LICENSE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * Returns whether the package for `architecture` (Node's name: x64, arm64) includes a file or a
 * folder. `path` is relative to node_modules. Of the eight binaries of each of the two SQLites, it
 * includes only the one for this system; the others take 33 MB. Of a package whose code is in the
 * built program, it includes only the license and the types. (A clinic's own connector has its own
 * zod and uses only the types from here.)
 */
export function isPacked(
  path: string,
  { architecture, is_run }: { architecture: string; is_run: boolean },
): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^better-sqlite3(?:-multiple-ciphers)?\/prebuilds\/./.test(path))
    return name === `linux-${architecture}.node`;
  if (LICENSE.test(name)) return true;
  if (/\.md$/i.test(name)) return false;
  if (!is_run && /\.(?:[cm]?js|json)$/.test(name) && name !== 'package.json') return false;
  return !TYPES.test(path) && !NOT_RUN.some((pattern) => pattern.test(path));
}
