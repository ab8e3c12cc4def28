/**
 * The coming days on paper: a PDF with a day to a sheet, for whoever prints it before the first
 * patient. It says the same as `schedule.html`. PDFKit draws it, in a font that has the letters of
 * every European language, because a name must not lose its accents.
 */
import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';
import type PDFDocument from 'pdfkit';
import { LINE_NAMES, URGENT_WORDS } from '../records/schedule-line.ts';
import { countWords, type ReportDay, toDoWords, type VisitLine, who } from './schedule.ts';
import { clockWords, dayWords, momentWords } from './times.ts';

type Document = InstanceType<typeof PDFDocument>;

export type PdfContent = {
  clinic: string;
  /** Whether eligd works, in a sentence; empty: it does. */
  health: string;
  days: readonly ReportDay[];
  now: number;
  time_zone: string;
};

type Column = { title: string; width: number; text: (each: VisitLine) => string };

const MARGIN = 36;
/** Of a sheet below the names of the columns. */
const SHEET_HEIGHT = 612 - 2 * MARGIN - 40;
const PADDING = 3;
const SIZE = 7.5;
const GRAY = '#555555';

/** Letter, landscape: 720 points between the margins. */
function columnsOf({ now, time_zone }: PdfContent): Column[] {
  return [
    { title: 'Time', width: 44, text: ({ visit }) => clockWords(visit.starts_at, time_zone) },
    {
      title: 'Patient',
      width: 120,
      text: ({ visit }) => `${who(visit)}\n${visit.input.procedure_codes.join(', ')}`.trim(),
    },
    { title: 'Payer', width: 84, text: ({ visit }) => payersOf(visit) },
    { title: 'Verdict', width: 60, text: ({ line }) => LINE_NAMES[line.word] },
    { title: 'Collect', width: 62, text: ({ line }) => line.collect },
    { title: 'Deductible left', width: 48, text: ({ line }) => line.deductible_left },
    { title: 'Maximum left', width: 48, text: ({ line }) => line.maximum_left },
    { title: 'What to do', width: 254, text: ({ line }) => toDoWords(line, now, time_zone) },
  ];
}

/** Each of them: paper has no page of the visit to open. */
const payersOf = ({ input }: VisitLine['visit']): string =>
  input.coverages.map(({ carrier, payor_id }) => carrier || `payer ID ${payor_id}`).join('\n');

/** The whole file. The library and its fonts are loaded when the first one is made. */
export async function schedulePdf(content: PdfContent): Promise<Buffer> {
  const { default: PdfDocument } = await import('pdfkit');
  const { resolve } = createRequire(import.meta.url);
  const font = (name: string) => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
  const document = new PdfDocument({
    size: 'LETTER',
    layout: 'landscape',
    margin: MARGIN,
    autoFirstPage: false,
    // A reader shows the title in its window: no patient data.
    info: { Title: 'Schedule', CreationDate: new Date(content.now) },
  });
  document.registerFont('regular', font('DejaVuSansCondensed'));
  document.registerFont('bold', font('DejaVuSansCondensed-Bold'));
  const whole = buffer(document);
  if (content.days.length === 0) sheet(document, content, 'No visits.', '');
  for (const day of content.days) {
    sheet(document, content, dayWords(day.date), countWords(day.lines));
    table(document, columnsOf(content), day.lines);
  }
  document.end();
  return await whole;
}

/** Begins a sheet with what stands at its head. */
function sheet(document: Document, content: PdfContent, title: string, count: string): void {
  const { clinic, health, now, time_zone } = content;
  document.addPage();
  document.font('bold').fontSize(14).fillColor('black').text(title);
  document.font('regular').fontSize(SIZE).fillColor(GRAY);
  if (count !== '') document.text(count);
  document.text(
    `${clinic}. As of ${momentWords(now, time_zone)} (${time_zone}). From what payers said on ` +
      'the phone; not a guarantee of payment.',
  );
  if (health !== '') document.font('bold').fillColor('black').text(health);
  document.moveDown(0.6);
}

function table(document: Document, columns: readonly Column[], lines: readonly VisitLine[]): void {
  const { page } = document;
  let y = head(document, columns, document.y);
  for (const each of lines) {
    const is_urgent = URGENT_WORDS.has(each.line.word);
    const cells = columns.map(({ title, text, width }) => ({
      text: text(each),
      width,
      // What stands out is for whoever looks down the sheet; all of it would be harder to read.
      font: is_urgent && title === 'Verdict' ? ('bold' as const) : ('regular' as const),
    }));
    const height = rowHeight(document, cells);
    if (y + height > page.height - MARGIN) {
      document.addPage();
      y = head(document, columns, MARGIN);
    }
    drawRow(document, cells, { y, height });
    y += height;
  }
}

/** The names of the columns; gives where the rows begin. */
function head(document: Document, columns: readonly Column[], y: number): number {
  const cells = columns.map(({ title, width }) => ({ text: title, width, font: 'bold' as const }));
  const height = rowHeight(document, cells);
  drawRow(document, cells, { y, height });
  return y + height;
}

type Cell = { text: string; width: number; font: 'regular' | 'bold' };

function rowHeight(document: Document, cells: readonly Cell[]): number {
  const heights = cells.map(({ text, width, font }) =>
    document
      .font(font)
      .fontSize(SIZE)
      .heightOfString(text, { width: width - 2 * PADDING }),
  );
  // Only what fills a sheet alone is cut off: a text of two pages says nothing at the desk.
  return Math.min(SHEET_HEIGHT, Math.max(...heights)) + 2 * PADDING;
}

function drawRow(
  document: Document,
  cells: readonly Cell[],
  { y, height }: { y: number; height: number },
): void {
  let x = MARGIN;
  document.fillColor('black');
  for (const { text, width, font } of cells) {
    document.font(font).text(text, x + PADDING, y + PADDING, {
      width: width - 2 * PADDING,
      height: height - 2 * PADDING,
      ellipsis: true,
    });
    x += width;
  }
  document
    .moveTo(MARGIN, y + height)
    .lineTo(x, y + height)
    .lineWidth(0.5)
    .strokeColor('#999999')
    .stroke();
}
