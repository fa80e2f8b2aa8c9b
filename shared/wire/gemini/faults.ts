// The faults of Gemini, each with an error that was seen.

import { type Faults, near } from '../faults/faults.ts'

export const geminiFaults: Faults = {
  'context-full': [/\binput token count\b.{0,40}\bexceeds\b/i],
  history: [
    /number of function response parts\b.{0,40}\bnumber of function call parts/i,
    /function (?:call|response) turn comes immediately after/i,
  ],
  damaged: [near('(?:corrupt(?:ed)?|invalid|not valid)', 'thought[ _]signature')],
  limited: ['RESOURCE_EXHAUSTED'],
  unsigned: [
    near('missing', 'thought_signature'), // Function call is missing a thought_signature in functionCall parts.
  ],
}
