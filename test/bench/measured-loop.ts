// The agent loop of the benches: over Weir, or written by hand.

/** A measured loop: one conversation after another, any number at once. */
export type Loop = {
  /**
   * One conversation from the user's message to the answer. `onText`: each piece of the answer, from
   * the loops of library.ts.
   */
  converse(conversation: string, onText?: (text: string) => void): Promise<string>
  close(): Promise<void>
  /** Only for a loop that survives its process. */
  resume?: { allAnswered(conversations: string[]): Promise<void>; unknownCalls(): Promise<number> }
}
