/**
 * Maps header names to columns. Aliases are compared in normal form (letters and digits only,
 * lowercase, `#` as "number"), so `Appt. ID`, `appt_id`, and `ApptID` are equal.
 */

const SINGLE = [
  'appointment_id', 'appointment_at', 'appointment_date', 'appointment_time', 'status',
  'patient_id', 'patient_name', 'last_name', 'first_name', 'dob', 'rendering_npi',
  'procedure_codes', 'diagnosis_codes', 'specialty', 'location', 'tax_id', 'billing_npi',
  'is_specialist', 'in_network', 'place_of_service', 'billed_amount', 'deceased',
  'procedure_fees',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

/** Only in claims-*.csv. */
const CLAIM = ['claim_id', 'claim_number', 'date_of_service', 'claim_status', 'coverage'] as const;

/** Only for appointments: in claims-*.csv, these names have no meaning or a different one. */
const NOT_OF_CLAIMS: readonly string[] = [
  'procedure_fees',
  'appointment_id',
  'appointment_at',
  'appointment_date',
  'appointment_time',
  'status',
];

const COVERAGE = [
  'carrier', 'payor_id', 'member_id', 'group_id', 'subscriber_name', 'subscriber_last_name',
  'subscriber_first_name', 'subscriber_dob', 'relationship', 'coverage_start', 'coverage_end',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

export const COVERAGE_COLUMNS: ReadonlySet<string> = new Set(COVERAGE);

type CoverageColumn = (typeof COVERAGE)[number];

const SECOND = COVERAGE.map((column) => `${column}_2` as const);

/** Every column that eligd reads; the suffix `_2` marks the second coverage. */
export const CANONICAL_COLUMNS = [...SINGLE, ...CLAIM, ...COVERAGE, ...SECOND] as const;

export type CanonicalColumn = (typeof CANONICAL_COLUMNS)[number];

/** Names the columns of one coverage. */
export type CoverageColumns = Readonly<Record<CoverageColumn, CanonicalColumn>>;

const namesOf = (name: (column: CoverageColumn) => CanonicalColumn) =>
  Object.fromEntries(COVERAGE.map((column) => [column, name(column)])) as CoverageColumns;

export const FIRST_COVERAGE: CoverageColumns = namesOf((column) => column);
export const SECOND_COVERAGE: CoverageColumns = namesOf((column) => `${column}_2`);

/** The kind of a file's rows, by the file's name. */
export type RowKind = 'appointments' | 'claims';

/** Header names of practice management systems, in addition to the canonical name. */
const ALIASES: Record<(typeof SINGLE)[number] | (typeof CLAIM)[number] | CoverageColumn, string> = {
  appointment_id:
    'apt num, apt number, apt id, appt id, appt num, appt number, appt no, appt #, ' +
    'appointment, appointment #, appointment no, appointment num, appointment number, appt ' +
    'key, visit id, visit #, encounter id, schedule id, event id, booking id',
  appointment_at:
    'apt date time, appt date time, appointment date time, appointment datetime, appointment ' +
    'start, appt start, appointment timestamp, scheduled at, start date time, start ' +
    'datetime, starts at, appt date/time, date/time, date and time, appt date & time, ' +
    'appointment date & time, scheduled date time',
  appointment_date:
    'apt date, appt date, appointment day, appt day, visit date, scheduled date, date of ' +
    'service, service date, dos',
  appointment_time:
    'apt time, appt time, appointment start time, appt start time, start time, visit time, ' +
    'scheduled time, time of day',
  deceased: 'is deceased, patient deceased, deceased date, date of death, death date, deceased on',
  status:
    'apt status, appt status, appointment status, visit status, schedule status, ' +
    'confirmation status, appt state',
  patient_id:
    'pat num, pat id, patient #, patient no, patient num, patient number, chart, chart #, ' +
    'chart no, chart num, chart number, chart id, mrn, medical record number, account #, ' +
    'account number, acct #, acct no, patient account, patient key, patient mrn, emr id',
  patient_name:
    'patient, pat name, patient full name, full name, patient name (last first), name of ' +
    'patient, pt name, patient last first',
  last_name:
    'l name, last, patient last name, pat last name, patient last, surname, family name, pt ' +
    'last name, patientlname, lastname',
  first_name:
    'f name, first, patient first name, pat first name, patient first, given name, pt first ' +
    'name, patientfname, firstname',
  dob:
    'birth date, birthdate, date of birth, patient dob, patient birth date, patient birthdate, ' +
    'patient date of birth, pat dob, pt dob, birthday, birth',
  rendering_npi:
    'national prov id, provider npi, prov npi, npi, rendering provider npi, treating ' +
    'provider npi, treating npi, doctor npi, dentist npi, npi #, npi number, provider ' +
    'national id, individual npi, rendering npi number, provider npi number',
  procedure_codes:
    'proc codes, procs, procedures, procedure, procedure code, proc code, ada code, ada ' +
    'codes, cdt codes, cdt code, cpt codes, cpt code, cpt, codes, service codes, service ' +
    'code, treatment codes, tx codes, planned procedures, procedures scheduled',
  procedure_fees:
    'proc fees, fees, procedure fee, proc fee, fee amounts, ucr fees, code fees, tx fees, ' +
    'treatment fees, service fees',
  diagnosis_codes:
    'diag codes, diagnosis, diagnoses, diagnosis code, dx, dx code, dx codes, icd, icd10, ' +
    'icd 10, icd codes, icd10 codes, icd 10 codes',
  specialty: 'provider specialty, service type, appointment specialty, department specialty',
  location:
    'clinic, clinic name, office, office name, site, facility, location name, department, ' +
    'department name, practice location, appt location, clinic num',
  tax_id:
    'tin, ein, tax id number, taxid, tax identification number, provider tax id, billing tax ' +
    'id, federal tax id, practice tax id',
  billing_npi:
    'billing provider npi, group npi, organization npi, practice npi, facility npi, clinic ' +
    'npi, type 2 npi, billing npi number',
  is_specialist: 'specialist, provider is specialist',
  in_network: 'innetwork, is in network, network status, provider in network, par status, network',
  place_of_service: 'pos, pos code, place of service code, place svc',
  billed_amount:
    'amount billed, billed, billed amt, charge, charges, charge amount, total charge, total ' +
    'charges, claim fee, fee billed, total billed, claim amount, claim total, total fee, fee',
  claim_id: 'claim num, claim key, claim identifier, internal claim id, claim record, pms claim id',
  claim_number:
    'claim #, claim no, payer claim number, payor claim number, payer claim control number, ' +
    'claim control number, carrier claim number, insurance claim number, claim reference ' +
    'number, icn, dcn, pccn',
  date_of_service:
    'service date, dos, date of svc, service from date, date of service from, from date of ' +
    'service, procedure date, visit date, treatment date, proc date',
  claim_status: 'status, claim state, state of claim, billing status',
  coverage: 'coverage rank, insurance order, ins order, claim type, payer order, billed to',
  carrier:
    'carrier name, ins carrier, ins carrier name, insurance, insurance carrier, insurance ' +
    'company, insurance name, ins name, ins company, ins co, insurance co, payer, payor, ' +
    'payer name, payor name, insurance plan carrier, insurance package, insurance payer, ' +
    'dental insurance, dental carrier',
  payor_id:
    'elect id, electronic id, electronic payer id, payer id, payer #, payer number, payor #, ' +
    'payor number, payer code, payor code, carrier id, insurance payer id, insurance id ' +
    'code, edi payer id, ins payer id, carrier payer id, payer no',
  member_id:
    'subscriber id, subscriber #, subscriber number, subscriber no, member #, member number, ' +
    'member no, policy #, policy number, policy no, policy id, insurance id, ins id, insured ' +
    'id, insurance id number, insurance member id, insurance policy number, id on card, ins ' +
    'subscriber id, policy holder id, certificate number, idnumber',
  group_id:
    'group num, group #, group number, group no, grp #, grp num, grp no, plan group number, ' +
    'insurance group, insurance group number, ins group, ins group #, group plan number, ' +
    'policy group number, employer group number',
  subscriber_name:
    'subscriber, insured, insured name, policy holder, policyholder, policy holder name, ' +
    'policyholder name, guarantor insured name, subscriber full name',
  subscriber_last_name:
    'subscriber lname, subs l name, insured last name, policy holder last name, subscriber last',
  subscriber_first_name:
    'subscriber fname, subs f name, insured first name, policy holder first name, subscriber first',
  subscriber_dob:
    'subscriber birth date, subscriber birthdate, subscriber date of birth, insured dob, ' +
    'insured birth date, insured date of birth, policy holder dob, policyholder dob, policy ' +
    'holder birth date',
  coverage_start:
    'effective date, eff date, coverage effective date, coverage effective, coverage start date, ' +
    'policy effective date, policy start date, insurance effective date, insurance start date, ' +
    'ins effective date, ins eff date, ins start date, plan effective date, plan start date, ' +
    'date effective',
  coverage_end:
    'termination date, term date, coverage termination date, coverage end date, coverage ' +
    'expiration date, policy termination date, policy end date, policy expiration date, ' +
    'insurance termination date, insurance end date, insurance expiration date, ins term date, ' +
    'ins end date, ins exp date, plan termination date, plan end date, date terminated, ' +
    'date term, expiration date, exp date',
  relationship:
    'relation, rel to insured, relationship to subscriber, relationship to insured, relation ' +
    'to subscriber, patient relationship, patient relationship to insured, subscriber ' +
    'relationship, relat',
};

/**
 * Words too general to compete with a clearer name: they count only if no other header names the
 * column.
 */
const WEAK_ALIASES: Partial<Record<(typeof SINGLE)[number] | CoverageColumn, string>> = {
  appointment_id: 'id, key',
  appointment_at: 'start, scheduled, when',
  appointment_date: 'date, day',
  appointment_time: 'time',
  status: 'state',
  patient_name: 'name',
  group_id: 'group, grp, employer group',
  specialty: 'type',
  location: 'place',
  member_id: 'member, policy',
  rendering_npi: 'npi 1',
};

/**
 * Returns letters and digits only, lowercase, without accents; `#` becomes a word, because `Group
 * #` and `Group` differ.
 */
export function normalHeader(name: string): string {
  return name
    .replaceAll('#', ' number')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

type Known = { column: CanonicalColumn; is_weak: boolean };

const KNOWN: Record<RowKind, Map<string, Known>> = {
  appointments: knownHeaders('appointments'),
  claims: knownHeaders('claims'),
};

function knownHeaders(kind: RowKind): Map<string, Known> {
  const known = new Map<string, Known>();
  const add = (name: string, column: CanonicalColumn, is_weak: boolean) => {
    const key = normalHeader(name);
    if (!known.has(key)) known.set(key, { column, is_weak });
  };
  const singles =
    kind === 'claims'
      ? [...CLAIM, ...SINGLE.filter((column) => !NOT_OF_CLAIMS.includes(column))]
      : SINGLE;
  const names = (column: keyof typeof ALIASES) => [column, ...ALIASES[column].split(', ')];
  for (const column of singles) for (const name of names(column)) add(name, column, false);
  for (const column of COVERAGE) {
    for (const name of names(column)) {
      for (const form of [
        name,
        `${name} 1`,
        `primary ${name}`,
        `pri ${name}`,
        `prim ${name}`,
        `${name} primary`,
        `1st ${name}`,
        `ins 1 ${name}`,
      ]) {
        add(form, column, false);
      }
      for (const form of [
        `${name} 2`,
        `secondary ${name}`,
        `sec ${name}`,
        `${name} secondary`,
        `${name} sec`,
        `2nd ${name}`,
        `ins 2 ${name}`,
      ]) {
        add(form, `${column}_2`, false);
      }
    }
  }
  for (const [column, list] of Object.entries(WEAK_ALIASES)) {
    if (kind === 'claims' && NOT_OF_CLAIMS.includes(column)) continue;
    for (const name of list.split(', ')) add(name, column as keyof typeof WEAK_ALIASES, true);
  }
  return known;
}

/** The position and header of each column. `index[column]` is -1 if the file lacks the column. */
export type ColumnPlan = {
  width: number;
  index: Record<CanonicalColumn, number>;
  /** The file's header, for messages that name the column. */
  header: Record<CanonicalColumn, string>;
  /** Indexes of every column that is read. */
  used: ReadonlySet<number>;
};

export type ColumnMap = { [Column in CanonicalColumn]?: string | string[] | undefined };

/** Returns the number of known header names: a measure of how well a separator fits. */
export function countKnown(header: readonly string[], columns: ColumnMap, kind: RowKind): number {
  const configured = configuredNames(columns);
  return header.reduce((sum, name) => {
    const normal = normalHeader(name);
    return sum + (configured.has(normal) || KNOWN[kind].has(normal) ? 1 : 0);
  }, 0);
}

function configuredNames(columns: ColumnMap): Map<string, CanonicalColumn> {
  const names = new Map<string, CanonicalColumn>();
  for (const column of CANONICAL_COLUMNS) {
    const given = columns[column];
    if (given === undefined) continue;
    for (const name of Array.isArray(given) ? given : [given])
      names.set(normalHeader(name), column);
  }
  return names;
}

/**
 * Returns the plan, or the column that two headers claim. Configured names win over strong aliases,
 * and strong over weak ones.
 */
export function planColumns(
  header: readonly string[],
  columns: ColumnMap,
  kind: RowKind,
): ColumnPlan | { claimed_twice: CanonicalColumn } {
  const configured = configuredNames(columns);
  const index = Object.fromEntries(CANONICAL_COLUMNS.map((column) => [column, -1])) as Record<
    CanonicalColumn,
    number
  >;
  const names = Object.fromEntries(CANONICAL_COLUMNS.map((column) => [column, column])) as Record<
    CanonicalColumn,
    string
  >;
  const normal = header.map(normalHeader);
  for (const [name, column] of configured) {
    const i = normal.indexOf(name);
    if (i === -1 || index[column] !== -1) continue;
    if (normal.lastIndexOf(name) !== i) return { claimed_twice: column };
    index[column] = i;
    names[column] = (header[i] ?? '').trim();
  }
  const known = KNOWN[kind];
  const tiers: ((name: string) => CanonicalColumn | undefined)[] = [
    (name) =>
      configured.has(name) || known.get(name)?.is_weak !== false
        ? undefined
        : known.get(name)?.column,
    (name) =>
      configured.has(name) || known.get(name)?.is_weak !== true
        ? undefined
        : known.get(name)?.column,
  ];
  for (const columnOf of tiers) {
    const before = { ...index };
    for (const [i, name] of normal.entries()) {
      const column = columnOf(name);
      if (column === undefined || before[column] !== -1) continue;
      if (index[column] !== -1) return { claimed_twice: column };
      index[column] = i;
      names[column] = (header[i] ?? '').trim();
    }
  }
  const used = new Set(Object.values(index).filter((i) => i !== -1));
  return { width: header.length, index, header: names, used };
}

/** Returns a column without which appointments or claims have no ID or date. */
export function missingColumn(
  plan: ColumnPlan,
  kind: RowKind,
): 'appointment_id' | 'appointment_at' | 'claim_id' | 'date_of_service' | null {
  if (kind === 'claims') {
    const needed = ['claim_id', 'date_of_service'] as const;
    return needed.find((column) => plan.index[column] === -1) ?? null;
  }
  if (plan.index.appointment_id === -1) return 'appointment_id';
  if (plan.index.appointment_at === -1 && plan.index.appointment_date === -1)
    return 'appointment_at';
  return null;
}
