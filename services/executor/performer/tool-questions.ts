// The questions of one running tool to a person. Part of the performer.
// Each question has one answer: that of the log, or `cancel` when the wait ends.
// So a tool does not wait for a partition that this process has lost.

import { tryIdOf } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { InputRequested } from '../../../shared/contract/messages.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import type { AskPerson, PersonAnswer } from '../../../shared/tools/tool.ts'
import type { ToolTask } from '../tasks.ts'

type RunTask = Extract<ToolTask, { kind: 'run' }>

export type ToolQuestions = {
  ask: AskPerson
  /** The log has the answer to the question with this number. */
  apply(answer: NonNullable<RunTask['answer']>): void
}

const nobody: PersonAnswer = { answer: 'cancel', values: '' }

/** `write`: into the executor's inbox; must not throw. */
export function toolQuestions(
  task: RunTask,
  clock: Pick<Clock, 'after'>,
  write: (message: InputRequested) => void,
): ToolQuestions {
  let newest = 0
  let open: { number: number; resolve(answer: PersonAnswer): void } | undefined

  return {
    async ask(question, waitMs) {
      if (newest >= limits.inputsOfTryMax || open !== undefined) return nobody
      newest += 1
      const number = newest
      const { promise, resolve } = Promise.withResolvers<PersonAnswer>()
      const cancelTimer = clock.after(waitMs, () => resolve(nobody))
      open = { number, resolve }
      const { owner } = task
      write({ type: 'input-requested', ...tryIdOf(task), owner, number, question, waitMs })
      const answer = await promise
      cancelTimer()
      open = undefined
      return answer
    },
    apply({ number, ...answer }) {
      if (open?.number === number) open.resolve(answer)
    },
  }
}
