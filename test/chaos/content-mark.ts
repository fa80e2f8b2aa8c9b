// A word in each text of a run that a log with encrypted records must not show: messages, prompts,
// answers, arguments, results, verdicts and reasons.

export const contentMark = 'heron'
