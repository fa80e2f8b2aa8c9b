// The verdicts of the page of numbers.
// Not measured: agents that were never recorded.

import { verdictCounts } from '../corpus/verdict-counts.ts'
import type { Row } from './row.ts'

export const benchVerdicts = (): Row[] => verdictCounts()
