// The script of an agent in tests of adapters.

/** `name`: of the tool. Default `exec`. */
export type Call = [id: string, args: string, name?: string]

export type Scripts = {
  /** The model's answer to its n-th request, from 1: calls of `exec`, or a text. `[]`: it thinks only. */
  answers: (n: number) => Call[] | string
  /** The result of the tool. Default `done`. */
  result?: (command: string) => string
}
