// The part of a process in running the stages of a data folder.

export const stagesChoices = ['auto', 'here', 'elsewhere'] as const

/** See WeirOptions. */
export type StagesChoice = (typeof stagesChoices)[number]
