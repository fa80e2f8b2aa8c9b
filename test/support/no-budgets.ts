// The topic `budgets` for tests without budgets: each use of it is a fault of the test.

import type { BudgetLog } from '../../shared/contract/performer.ts'

const unexpected = () => Promise.reject(new Error('no budget is in force'))

export const noBudgets: BudgetLog = {
  partitionOf: unexpected,
  salt: unexpected,
  append: unexpected,
  async *follow() {
    yield await unexpected()
  },
}
