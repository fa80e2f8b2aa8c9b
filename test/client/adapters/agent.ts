// The script of an agent in tests of adapters.

/** `name`: of the tool. Default `exec`. */
export type Call = [id: string, args: string, name?: string]

export type Scripts = {
  /** The model's answer to its n-th request, from 1: calls of `exec`, or a text. `[]`: it thinks only. */
  answers: (n: number) => Call[] | string
  /** The result of the tool. Default `done`. */
  result?: (command: string) => string
  /** How often the host runs the agent again on the same messages while it has no text. Default 0. */
  repeats?: number
  /** The requests of a run at most. Default 25. */
  steps?: number
}

/** `requests`: the model's. `choices`: their tool choices. */
export type Run = { text: unknown; ran: string[]; requests: object[]; choices: unknown[] }

export const prompt = 'list the files'
