import { addDays, ageOn, type Day } from '../calendar.ts';
import type { Dice } from '../dice.ts';
import { compact, type Json, type JsonObject } from '../json.ts';
import { type AnswerContext, bornOn } from './context.ts';

const BACK_TEETH = ['2', '3', '4', '13', '14', '15', '18', '19', '30', '31'];
const PRIMARY_TEETH = ['A', 'B', 'I', 'J', 'K', 'L', 'S', 'T'];

type Item = { code: string; teeth?: string[]; surfaces?: string[]; quadrants?: number[] };

/**
 * Generates a treatment history (docs/service.md "Treatment history item"): recall visits about
 * twice a year for some years, with the resulting treatments. A person has the same history in
 * every inquiry; children have a child's history.
 */
export function treatmentHistory(context: AnswerContext): JsonObject {
  const { person, formats } = context;
  const born = bornOn(context);
  const visits: [Day, Item[]][] = [];
  let day = addDays(context.as_of, -person.integer('last visit', 8, 240));
  for (let visit = 0; visit < person.integer('visits', 0, 8); visit += 1) {
    const age = ageOn(born, day);
    if (age < 2) break;
    visits.push([day, itemsOf(person.of('visit', visit), age)]);
    day = addDays(day, -person.integer(`interval ${visit}`, 150, 260));
  }
  return Object.fromEntries(
    visits
      .reverse()
      .map(([when, items]) => [formats.date(when), items.map((item) => wireItem(context, item))]),
  );
}

function itemsOf(dice: Dice, age: number): Item[] {
  const items: Item[] = [{ code: 'D0120' }, { code: age < 14 ? 'D1120' : 'D1110' }];
  if (dice.chance('bitewings', 0.4)) items.push({ code: age < 14 ? 'D0272' : 'D0274' });
  if (age < 16 && dice.chance('fluoride', 0.8)) items.push({ code: 'D1206' });
  if (dice.chance('filling', 0.2)) items.push(filling(dice, age));
  if (age > 25 && dice.chance('crown', 0.06))
    items.push({ code: 'D2740', teeth: [dice.pick('crown tooth', BACK_TEETH)] });
  if (age > 30 && dice.chance('deep cleaning', 0.08)) {
    items.push({
      code: 'D4341',
      quadrants: [dice.integer('first quadrant', 1, 2), dice.integer('other quadrant', 3, 4)],
    });
  }
  if (age > 20 && dice.chance('extraction', 0.04))
    items.push({ code: 'D7140', teeth: [dice.pick('lost tooth', BACK_TEETH)] });
  return items;
}

function filling(dice: Dice, age: number): Item {
  const surfaces = dice.pick('surfaces', [['O'], ['M', 'O'], ['D', 'O']]);
  return {
    code: surfaces.length === 1 ? 'D2391' : 'D2392',
    teeth: [dice.pick('filled tooth', age < 10 ? PRIMARY_TEETH : BACK_TEETH)],
    surfaces,
  };
}

function wireItem(context: AnswerContext, item: Item): Json {
  return compact({
    procedure_code: item.code,
    tooth_numbers: context.formats.teeth(item.teeth ?? []),
    surfaces: item.surfaces ?? [],
    quadrant_numbers: item.quadrants ?? [],
  });
}
