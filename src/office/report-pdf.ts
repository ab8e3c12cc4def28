/**
 * The coming days on paper: a PDF with one sheet per day, to print before the first patient. Its
 * content equals `schedule.html`. PDFKit draws it with a font that has the letters of every
 * European language, because a name must not lose its accents.
 */
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type PDFDocument from 'pdfkit';
import type { LocalDate } from '../domain/time.ts';
import { LINE_NAMES, type LineWord, URGENT_WORDS } from '../records/schedule-line.ts';
import { PackedText } from './packed.ts';
import { countWords, toDoWords, type VisitLine, who } from './schedule.ts';
import { clockWords, dayWords, momentWords } from './times.ts';

type Document = InstanceType<typeof PDFDocument>;

type PdfContent = {
  clinic: string;
  /** A sentence about what does not work; empty: eligd works. */
  health: string;
  days: readonly PaperDay[];
  now: number;
  time_zone: string;
};

/** What a row says; the layout decides how `name` and `codes` are separated. */
type PaperLine = {
  word: LineWord;
  time: string;
  name: string;
  codes: string;
  payers: string;
  collect: string;
  deductible_left: string;
  maximum_left: string;
  to_do: string;
};

/** One day, whose rows are read again for each layout that is tried. */
export class PaperDay {
  readonly date: LocalDate;
  readonly words: readonly LineWord[];
  readonly #lines = new PackedText();

  /** `words`: those of the lines, to which the caller adds. */
  constructor(date: LocalDate, words: readonly LineWord[]) {
    this.date = date;
    this.words = words;
  }

  add(lines: readonly VisitLine[], { now, time_zone }: { now: number; time_zone: string }): void {
    const said = lines.map(
      ({ visit, line }): PaperLine => ({
        word: line.word,
        time: clockWords(visit.starts_at, time_zone),
        name: who(visit),
        codes: visit.input.procedure_codes.join(', '),
        payers: payersOf(visit),
        collect: line.collect,
        deductible_left: line.deductible_left,
        maximum_left: line.maximum_left,
        to_do: toDoWords(line, now, time_zone),
      }),
    );
    this.#lines.add(JSON.stringify(said));
  }

  *lines(): Generator<PaperLine> {
    for (const piece of this.#lines.read()) yield* JSON.parse(piece.toString()) as PaperLine[];
  }
}

type Column = { title: string; width: number; text: (each: PaperLine) => string };

/** In points; `widths`: of the columns, which fill the sheet between the margins. */
type Layout = {
  orientation: 'landscape' | 'portrait';
  margin: number;
  size: number;
  padding: number;
  widths: readonly number[];
};

const GRAY = '#555555';

const DENSE = {
  orientation: 'portrait',
  margin: 24,
  widths: [34, 88, 64, 46, 43, 38, 36, 215],
} as const;
/**
 * The first layout that fits a day on one sheet is used; forty visits usually need the last one.
 */
const LAYOUTS = [
  {
    orientation: 'landscape',
    margin: 36,
    size: 7.5,
    padding: 3,
    widths: [44, 120, 84, 60, 62, 48, 48, 254],
  },
  { ...DENSE, size: 7, padding: 1.5 },
  { ...DENSE, size: 6.4, padding: 1 },
  { ...DENSE, size: 5.9, padding: 0.7 },
  { ...DENSE, size: 5.4, padding: 0.5 },
] as const satisfies readonly Layout[];
/** For a day that fits no layout: easy-to-read letters on as many sheets as needed. */
const LONG_DAY: Layout = LAYOUTS[2];

/** Places the columns between the margins of Letter paper. */
function columnsOf({ widths, orientation }: Layout): Column[] {
  const separator = orientation === 'landscape' ? '\n' : ' · ';
  const texts: Omit<Column, 'width'>[] = [
    { title: 'Time', text: ({ time }) => time },
    {
      title: 'Patient',
      text: ({ name, codes }) => [name, codes].filter((each) => each !== '').join(separator),
    },
    { title: 'Insurance', text: ({ payers }) => payers },
    { title: 'Verdict', text: ({ word }) => LINE_NAMES[word] },
    { title: 'Collect', text: ({ collect }) => collect },
    { title: 'Deductible left', text: ({ deductible_left }) => deductible_left },
    { title: 'Maximum left', text: ({ maximum_left }) => maximum_left },
    { title: 'What to do', text: ({ to_do }) => to_do },
  ];
  return texts.map((each, index) => ({ ...each, width: widths[index] ?? 0 }));
}

/** Names all payers: paper has no link to the visit's page. */
const payersOf = ({ input }: VisitLine['visit']): string =>
  input.coverages.map(({ carrier, payor_id }) => carrier || `payer ID ${payor_id}`).join('\n');

/** Draws the file while its bytes are read. The first call loads the library and its fonts. */
export async function* schedulePdf(content: PdfContent): AsyncGenerator<Uint8Array> {
  const { default: PdfDocument } = await import('pdfkit');
  const { resolve } = createRequire(import.meta.url);
  const font = (name: string) => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
  const open = () => {
    const opened = new PdfDocument({
      autoFirstPage: false,
      // PDFKit's own font, which the sheet does not use, is not in the package.
      font: '',
      // A PDF reader shows the title in its window, so it contains no patient data.
      info: { Title: 'Schedule', CreationDate: new Date(content.now) },
    });
    opened.registerFont('regular', font('DejaVuSansCondensed'));
    opened.registerFont('bold', font('DejaVuSansCondensed-Bold'));
    return opened;
  };
  const document = open();
  // Never shown: measures how much room each layout needs.
  const scratch = open();
  const bytes = document as unknown as Readable;
  const drawn = draw(document, scratch, content).then(
    () => document.end(),
    (error: Error) => bytes.destroy(error),
  );
  yield* bytes;
  await drawn;
}

async function draw(document: Document, scratch: Document, content: PdfContent): Promise<void> {
  if (content.days.length === 0) sheet(document, content, null, LAYOUTS[0]);
  for (const day of content.days) {
    const layout = LAYOUTS.find((each) => isOneSheet(scratch, content, day, each)) ?? LONG_DAY;
    sheet(document, content, day, layout);
    await table(document, day.lines(), layout);
  }
}

function isOneSheet(
  scratch: Document,
  content: PdfContent,
  day: PaperDay,
  layout: Layout,
): boolean {
  sheet(scratch, content, day, layout);
  const columns = columnsOf(layout);
  const bottom = scratch.page.height - layout.margin;
  let y = scratch.y + rowHeight(scratch, headCells(columns), layout);
  for (const each of day.lines()) {
    y += rowHeight(scratch, cellsOf(columns, each), layout);
    if (y > bottom) return false;
  }
  return y <= bottom;
}

/** Begins a sheet with its heading; `day`: null if no day has visits. */
function sheet(
  document: Document,
  content: PdfContent,
  day: PaperDay | null,
  { orientation, margin }: Layout,
): void {
  const { clinic, health, now, time_zone } = content;
  document.addPage({ size: 'LETTER', layout: orientation, margin });
  const title = day === null ? 'No visits.' : dayWords(day.date);
  document.font('bold').fontSize(14).fillColor('black').text(title);
  document.font('regular').fontSize(7.5).fillColor(GRAY);
  if (day !== null) document.text(countWords(day.words));
  document.text(
    `${clinic}. As of ${momentWords(now, time_zone)} (${time_zone}). Based on what ` +
      'insurance companies said on the phone; not a guarantee of payment.',
  );
  if (health !== '') document.font('bold').fillColor('black').text(health);
  document.moveDown(0.6);
}

/** Draws the rows; after each sheet, its bytes can be read before the next one is drawn. */
async function table(
  document: Document,
  lines: Iterable<PaperLine>,
  layout: Layout,
): Promise<void> {
  const { orientation, margin } = layout;
  const columns = columnsOf(layout);
  let y = head(document, columns, layout, document.y);
  for (const each of lines) {
    const cells = cellsOf(columns, each);
    const height = rowHeight(document, cells, layout);
    if (y + height > document.page.height - margin) {
      document.addPage({ size: 'LETTER', layout: orientation, margin });
      await turn();
      // Nobody reads any more: the file could not be written.
      if ((document as unknown as Readable).destroyed) return;
      y = head(document, columns, layout, margin);
    }
    drawRow(document, cells, layout, { y, height });
    y += height;
  }
}

type Cell = { text: string; width: number; font: 'regular' | 'bold' };

function cellsOf(columns: readonly Column[], each: PaperLine): Cell[] {
  const is_urgent = URGENT_WORDS.has(each.word);
  return columns.map(({ title, text, width }) => ({
    text: text(each),
    width,
    // Only urgent verdicts are bold; more bold text would be harder to scan.
    font: is_urgent && title === 'Verdict' ? 'bold' : 'regular',
  }));
}

const headCells = (columns: readonly Column[]): Cell[] =>
  columns.map(({ title, width }) => ({ text: title, width, font: 'bold' }));

/** Draws the column headings; returns where the rows begin. */
function head(document: Document, columns: readonly Column[], layout: Layout, y: number): number {
  const cells = headCells(columns);
  const height = rowHeight(document, cells, layout);
  drawRow(document, cells, layout, { y, height });
  return y + height;
}

function rowHeight(
  document: Document,
  cells: readonly Cell[],
  { size, padding, margin }: Layout,
): number {
  const heights = cells.map(({ text, width, font }) =>
    document
      .font(font)
      .fontSize(size)
      .heightOfString(text, { width: width - 2 * padding }),
  );
  // Cuts only text that fills a whole sheet; text of two pages is useless at the front desk.
  const highest = document.page.height - 2 * margin - 40;
  return Math.min(highest, Math.max(...heights)) + 2 * padding;
}

function drawRow(
  document: Document,
  cells: readonly Cell[],
  { size, padding, margin }: Layout,
  { y, height }: { y: number; height: number },
): void {
  let x = margin;
  document.fillColor('black').fontSize(size);
  for (const { text, width, font } of cells) {
    document.font(font).text(text, x + padding, y + padding, {
      width: width - 2 * padding,
      height: height - 2 * padding,
      ellipsis: true,
    });
    x += width;
  }
  document
    .moveTo(margin, y + height)
    .lineTo(x, y + height)
    .lineWidth(0.5)
    .strokeColor('#999999')
    .stroke();
}
