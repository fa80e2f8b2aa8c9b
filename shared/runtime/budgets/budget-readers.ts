// Both readers of the topic `budgets` in a process, which read each partition once.

import { type AccountLines, createAccountLines } from './account-lines.ts'
import { budgetFollower, type Membership } from './budget-follower.ts'
import { createLedgerReader, type LedgerReader } from './ledger-reader.ts'

export type BudgetReaders = {
  ledgers: LedgerReader
  lines: AccountLines
  /** One for each assigned partition. After the last `leave` nothing is read. */
  join(): Membership
}

/** One for a process. */
export function createBudgetReaders(): BudgetReaders {
  const follower = budgetFollower()
  return {
    ledgers: createLedgerReader(follower),
    lines: createAccountLines(follower),
    join: follower.join,
  }
}
