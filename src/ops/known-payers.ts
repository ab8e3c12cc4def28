/**
 * Payers that eligd knows without a line in payers.csv: those in the specification's examples and
 * in the samples. A line of payers.csv wins. The service does not publish its list of carriers, so
 * this list has only names that have been tried.
 */
export const SHIPPED_PAYERS: readonly { name: string; payor_id: string; carrier: string }[] = [
  { name: 'Aetna', payor_id: '60054', carrier: 'AETNA' },
  { name: 'Aetna Dental', payor_id: '60054', carrier: 'AETNA' },
  {
    name: 'Blue Cross Blue Shield of Texas',
    payor_id: '',
    carrier: 'BLUE_CROSS_BLUE_SHIELD_OF_TEXAS',
  },
  { name: 'Cigna', payor_id: '62308', carrier: 'CIGNA' },
  { name: 'Cigna Dental PPO', payor_id: '62308', carrier: 'CIGNA' },
  { name: 'Delta Dental of Illinois', payor_id: '05030', carrier: 'DELTA_DENTAL_OF_ILLINOIS' },
  { name: 'Guardian', payor_id: '64246', carrier: 'GUARDIAN' },
  { name: 'Guardian Life', payor_id: '64246', carrier: 'GUARDIAN' },
  { name: 'Humana Dental', payor_id: '73288', carrier: 'HUMANA' },
  { name: 'MetLife', payor_id: '65978', carrier: 'METLIFE' },
  { name: 'MetLife Dental', payor_id: '65978', carrier: 'METLIFE' },
  { name: 'UHC Dental', payor_id: '52133', carrier: 'UNITED_HEALTHCARE' },
  { name: 'United Concordia', payor_id: 'CX007', carrier: 'UNITED_CONCORDIA' },
];
