// The texts of interventions for the model. The frame and the text of `identicalFailure` come from
// incident I1. The other rules use the same frame.

/** A call of the evidence. `outcome`: its result, as a clause. */
export type ShownCall = { tool: string; arguments: string; outcome: string }

/**
 * The text of I1, word for word, with its slots filled: the calls as sent, the short reasons, the
 * name of the tool.
 */
export function identicalFailure(calls: ShownCall[]): string {
  return frame(
    calls,
    [
      'These are identical failed invocations. Retrying with the same arguments',
      'will fail again.',
    ],
    [
      `Do NOT call ${toolNames(calls)} or any other tool.`,
      'Do NOT repeat this call pattern.',
      'Respond to the user in plain text.',
      'Explain what you were trying to accomplish.',
      'If you do not know what arguments to use, ask the user for clarification.',
    ],
  )
}

/** For calls of one tool that keep breaking its schema, in different ways. */
export function schemaFailures(calls: ShownCall[]): string {
  return frame(
    calls,
    ['None of these calls was run, because their arguments do not match the schema of the tool.'],
    [
      `Read the schema of ${toolNames(calls)} again. Call it only with arguments that match all of it.`,
      'Do NOT guess names, types or values.',
      'If you do not know the values, respond to the user in plain text and ask for them.',
    ],
  )
}

/**
 * For calls that succeed and bring nothing new. `finding`: the kind of repetition, in whole
 * sentences.
 */
export function noProgress(calls: ShownCall[], finding: string[]): string {
  return frame(calls, finding, [
    `Do NOT call ${toolNames(calls)} in this way again.`,
    'Do NOT repeat this call pattern.',
    'If you have what you need, respond to the user in plain text.',
    'If you are waiting for something to change, wait longer before you look again.',
    'If you cannot go on, explain what you were trying to accomplish and ask the user.',
  ])
}

/** For agents that are started again for one task. Their host reports their results by itself. */
export function sameTask(calls: ShownCall[], times: number): string {
  return frame(
    calls,
    [
      `You have started an agent for this same task in ${times} responses. The reports bring nothing new.`,
    ],
    [
      'Start no other agent for the same task.',
      'If an agent still works on it, wait for the notification: its result comes by itself.',
      'Otherwise do the task yourself, or use the reports that you have.',
      'If you cannot go on, explain what you were trying to accomplish and ask the user.',
    ],
  )
}

/** After a wait for other agents without news. Their host reports their results by itself. */
export function stillWaitingForAgents(calls: ShownCall[], waited: string): string {
  return waiting(calls, waited, [
    'Do not look again. Wait for the notification: the result of an agent comes by itself.',
    'Start no other agent for the same task.',
    'Go on with work that does not need the result.',
    'If nothing is left to do, tell the user in plain text which agents still work.',
  ])
}

/** After a wait without news. It forbids no call: the model may have a reason to wait. */
export function stillWaiting(calls: ShownCall[], waited: string): string {
  return waiting(calls, waited, [
    'Find out whether the thing that you wait for still makes progress, or stop it.',
    'Go on with work that does not need it.',
    'If you must wait on, wait longer before you look again.',
    'If nothing is left to do, tell the user in plain text what you are waiting for.',
  ])
}

function waiting(calls: ShownCall[], waited: string, demands: string[]): string {
  return [
    'SYSTEM INTERVENTION — STILL WAITING',
    calls.length === 1 ? 'Your last look was:' : `Your last ${calls.length} looks were:`,
    ...numbered(calls.map((call) => `${call.tool}(${call.arguments}) → ${call.outcome}`)),
    `You are still waiting: ${waited}, and nothing has changed.`,
    'On your next turn, stop waiting or do something else:',
    ...numbered(demands),
  ].join('\n')
}

function frame(calls: ShownCall[], finding: string[], demands: string[]): string {
  return [
    'SYSTEM INTERVENTION — LOOP DETECTED',
    calls.length === 1 ? 'Your last tool call was:' : `Your last ${calls.length} tool calls were:`,
    ...numbered(calls.map((call) => `${call.tool}(${call.arguments}) → ${call.outcome}`)),
    ...finding,
    'On your next turn:',
    ...numbered(demands),
    'The user is waiting for a text response.',
  ].join('\n')
}

function numbered(lines: string[]): string[] {
  return lines.map((line, index) => `${index + 1}. ${line}`)
}

function toolNames(calls: ShownCall[]): string {
  return [...new Set(calls.map(({ tool }) => tool))].join(', ')
}

export const emptyResponse = {
  /** An ordinary reminder after a response without visible text and without a call. */
  nudge: [
    'Your last response had no visible text and no tool call. The user cannot see your reasoning.',
    'Either call a tool, or answer the user now in plain text.',
  ].join('\n'),
  /** After a response that the length limit cut before any text or call. */
  brevity: [
    'Your last response was cut off by the length limit before it had any visible text or tool call.',
    'Think briefly. Either call a tool, or answer the user now in a few sentences of plain text.',
  ].join('\n'),
  /** With the last request of the turn, which offers no tool. */
  lastChance: (responses: number) =>
    [
      `${responses} of your responses had no visible text and no tool call. The user has not seen anything of them.`,
      'No tool can be called in this response, and it is the last one.',
      'Write your final answer to the user now, in plain text, with what you know so far. If something could not be finished, say what and why.',
    ].join('\n'),
}

/** After a response that repeats itself. */
export function chanting(times: number): string {
  return [
    'SYSTEM INTERVENTION — LOOP DETECTED',
    `Your last response said the same ${times} times in a row. It was not taken as your answer.`,
    'Do NOT write it again.',
    'Either call a tool, or answer the user now in plain text and say each thing once.',
  ].join('\n')
}

/** After responses with text and no call. */
export function monologue(responses: number): string {
  return [
    'SYSTEM INTERVENTION — LOOP DETECTED',
    `Your last ${responses} responses announced something and did nothing.`,
    'Do NOT announce it again.',
    'Either call a tool now, or give the user your final answer in plain text. If you cannot go on, say what is missing.',
  ].join('\n')
}

/**
 * After a response with a readable call as text that did not run (I2). `why`: a clause. Only a text
 * that is nothing but calls needs other words to be an answer.
 */
export const heldCall = {
  nudge: (why: string, isWholeText: boolean) =>
    [
      `Your last response has a tool call that is written as text, and it was not run: ${why}.`,
      'Nothing was executed, and the response was not taken as your answer.',
      'If you wanted to call a tool, make the call now, in the way that this request offers.',
      isWholeText
        ? 'If it was meant as your answer, write it again with a sentence around it that says what it is.'
        : 'If it was meant as your answer, write it again. The second time it is your answer.',
    ].join('\n'),
  /** With the last request of the turn, which offers no tool. */
  lastChance: [
    'Your last response was a tool call that is written as text, again, and it was not run. The user has not seen it.',
    'No tool can be called in this response, and it is the last one.',
    'Write your final answer to the user now, in plain text, with what you know so far. If something could not be finished, say what and why.',
  ].join('\n'),
}

/** After a text that is built like a call and cannot run (I2). `why`: a clause. */
export function unreadCall(why: string): string {
  return [
    `Your last response was written like a tool call, but it could not be run: ${why}.`,
    'Nothing was executed, and it was not taken as your answer.',
    'If you wanted to call a tool, call it again in the way you were told to, with one of the tools you were given and arguments that it accepts.',
    'If it was meant as your answer, write it again with a sentence around it that says what it is.',
  ].join('\n')
}

/** The text of I5.2, word for word. */
export function schemaBreaker(tool: string, times: number, requiredFields: string[]): string {
  const fields = requiredFields.length === 0 ? 'none' : requiredFields.join(', ')
  return `Tool '${tool}' has failed schema validation ${times} times consecutively. The required fields are: ${fields}. Do NOT call this tool again without providing all required fields.`
}

/** Findings of `noProgress`. */
export const finding = {
  counting: (times: number) => [
    `Your last ${times} calls differ only in their numbers, and so do their results.`,
    'If each of them is needed, say so and go on. Otherwise stop here.',
  ],
  cycle: (laps: number) => [
    `These calls have come back ${laps} times in the same order with the same results.`,
    'Another lap will bring them again.',
  ],
  identical: [
    'These identical calls returned the same result each time. Making this call',
    'again will return it again.',
  ],
  nearEqual: [
    'These calls differ only in a time, a counter, a random value or a remark, and',
    'returned the same result each time. Another one will return it again.',
  ],
  sentAgain: (times: number) => [
    `You have sent this same text ${times} times, and the tool accepted it each time. The answers`,
    'differ only in their ids. Sending it again brings nothing new.',
  ],
  nothingNew: (responses: number) => [
    `All calls of your last ${responses} responses had been made before in this turn, with the same`,
    'results. You have seen what they return.',
  ],
  repeatedRound: (times: number) => [
    `You have made this same set of calls ${times} times with the same results.`,
    'Making it again will bring them again.',
  ],
  echo: [
    'These calls returned only the words that they were called with, which tells',
    'nothing new and does no work. Another one will do the same.',
  ],
  lap: (laps: number) => [
    `These calls have come back ${laps} times in the same order. Their results differ only in values`,
    'that are new each time, such as a state, a code, a port or a signed address.',
    'Another lap will end in the same way.',
  ],
  refusedPage: [
    'These calls asked for different things and returned the same page each time.',
    'The page refuses the query, so another query will return it again.',
  ],
  reportedFailure: (reason: string) => [
    'Each of these calls was answered, and each answer reports the same failure:',
    reason,
    'The operation did not take place. Calling it again will fail again.',
  ],
  sameChange: (times: number) => [
    `You have written this same text into the same place ${times} times.`,
    'It is there already. Writing it again changes nothing that is needed.',
  ],
  unmovedError: (reason: string) => [
    'You have edited the same file again and again, and the check reports the same error each time:',
    reason,
    'These edits do not reach its cause. Read what the error says before you edit again.',
  ],
  sameAnswer: [
    'These calls differ only in their wording and returned the same result each',
    'time. Rewording them again will return it again.',
  ],
  sweep: [
    'Every line that these calls returned had been returned before. You have seen',
    'what is there.',
  ],
}
