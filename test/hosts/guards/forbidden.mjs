// A guard for the suite: rejects each call whose arguments name the file "forbidden".

export default {
  name: 'forbidden',
  version: '1',
  tools: ['*'],
  deadlineMs: 5000,
  onTimeout: 'deny',
  judge: (_state, round) => ({
    state: undefined,
    verdicts: round.calls.map(({ ordinal, arguments: text }) =>
      JSON.stringify(text).includes('forbidden')
        ? { ordinal, verdict: 'deny', code: 'forbidden', text: 'Leave that file alone.' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}
