// The agent loop as the benches run it: over Weir, or by hand.

/** A loop that is measured: one conversation after another, any number at once. */
export type Loop = {
  /** One conversation from the user's message to the answer. */
  converse(conversation: string): Promise<string>
  close(): Promise<void>
  /** What only a loop that survives its process has. */
  resume?: { allAnswered(conversations: string[]): Promise<void>; unknownCalls(): Promise<number> }
}
