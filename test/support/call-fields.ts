/** The fields of a record about a call, each with a value. */
export const CALL_FIELDS = {
  calls: [
    {
      ended_at: '2026-11-22T15:00:00.000Z',
      representative: 'Pat',
      reference_number: 'REF-1',
      recording_url: 'https://calls.example/r1',
      transcript_url: 'https://calls.example/t1',
      has_transcript: false,
      custom_answers: [{ question: 'Q one', answer: 'A one' }],
    },
  ],
  confidence: 'low',
  verification: {
    checks: [
      {
        name: 'Identity',
        description: 'who',
        status: 'UNMET',
        is_met: false,
        evidence: 'words',
        reasoning: 'because',
        validation: { a: 1 },
        call_log_id: 'log-1',
        checked_at: '2026-11-22T16:00:00.000Z',
      },
    ],
  },
};
