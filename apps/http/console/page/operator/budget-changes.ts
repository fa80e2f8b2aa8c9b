// The changes of budgets: a new one and other amounts, each with its command.

import { shellWord } from '../../../../../shared/lib/text/shell-word.ts'
import type { BudgetsData } from '../operator-state.ts'
import type { Change, Field, Values } from '../parts/confirmation.ts'

type Budget = BudgetsData['budgets'][number]

const text = { kind: 'text', values: null } as const

const subjectFields: Field[] = [
  {
    ...text,
    name: 'tenant',
    label: 'Tenant; * counts each one',
    value: '',
    isOptional: true,
    suggests: () => 'tenant',
  },
  {
    name: 'subject',
    label: 'It limits the use of',
    value: 'tenant',
    kind: 'text',
    values: ['tenant', 'agent', 'conversation'],
  },
  {
    ...text,
    name: 'name',
    label: 'Agent or conversation; * counts each one',
    value: '',
    suggests: ({ subject }) => (subject === 'agent' ? 'agent' : 'open'),
    isShown: ({ subject }) => subject !== 'tenant',
  },
  {
    name: 'window',
    label: 'In each',
    value: 'day',
    kind: 'text',
    values: ['turn', 'day', 'month'],
  },
  { name: 'unit', label: 'Unit', value: 'usd', kind: 'text', values: ['usd', 'tokens'] },
]

/** An empty amount is none. */
function amountFields({ hard, soft, unpriced }: { hard: string; soft: string; unpriced: string }) {
  const optional = { ...text, isOptional: true }
  return [
    {
      ...optional,
      name: 'hard',
      label: 'Hard limit: no model request from this amount on',
      hint: '20USD or 1000000',
      value: hard,
    },
    {
      ...optional,
      name: 'soft',
      label: 'Warn at: an event, and the turns go on',
      hint: '15USD or 750000',
      value: soft,
    },
    {
      name: 'unpriced',
      label: 'Models of unknown price, under money',
      kind: 'text',
      value: unpriced,
      values: ['deny', 'allow'],
      isShown: ({ unit = 'usd' }) => unit === 'usd',
    },
  ] satisfies Field[]
}

export function newBudget(onChanged: () => void): Change {
  return budgetChange('Set a budget?', {}, subjectFields, { onChanged, unpriced: 'deny' })
}

/** Undefined: its record cannot be read. */
export function changedBudget(budget: Budget, onChanged: () => void): Change | undefined {
  const { id, tenant, scope, name, window, unit, hard, soft, unpriced } = budget
  if (tenant === null || scope === null || window === null || unit === null) return undefined
  const fixed = { tenant, subject: scope, name: name ?? '', window, unit }
  const amounts = { hard: amountText(hard, unit), soft: amountText(soft, unit) }
  const options = { onChanged, unpriced: unpriced ?? 'deny', ...amounts }
  return budgetChange(`Change ${id}?`, fixed, [], options)
}

type BudgetChange = { onChanged(): void; unpriced: string; hard?: string; soft?: string }

function budgetChange(
  title: string,
  fixed: Values,
  fields: Field[],
  { onChanged, hard = '', soft = '', unpriced }: BudgetChange,
): Change {
  const all = [...fields, ...amountFields({ hard, soft, unpriced })]
  return {
    title,
    text: 'It counts from the next model request on, on every process of the deployment, until it is removed. It replaces a budget of the same tenant, subject, window and unit.',
    fields: fixed.unit === 'tokens' ? all.filter(({ name }) => name !== 'unpriced') : all,
    label: 'Set the budget',
    command: (values) => setCommand({ ...values, ...fixed }),
    path: 'budget',
    body: (values) => ({ unpriced, name: '', ...values, ...fixed }),
    done: () => 'The budget is set.',
    onChanged,
  }
}

function setCommand(values: Values): string {
  const { tenant = '', subject = '', name = '', window = '', unit = '' } = values
  const { hard = '', soft = '', unpriced = '' } = values
  const amount = unit === 'tokens' ? 'tokens' : 'money'
  return [
    'weir budget set',
    ...(tenant === '' ? [] : [`--tenant ${shellWord(tenant)}`]),
    ...(subject === 'tenant' ? [] : [`--${subject} ${shellWord(name)}`]),
    `--window ${window}`,
    ...(hard === '' ? [] : [`--${amount} ${shellWord(hard)}`]),
    ...(soft === '' ? [] : [`--soft-${amount} ${shellWord(soft)}`]),
    ...(unit === 'usd' && unpriced === 'allow' ? ['--unpriced allow'] : []),
  ].join(' ')
}

/** In the form that weir budget set reads. */
function amountText(amount: number | null, unit: NonNullable<Budget['unit']>): string {
  if (amount === null) return ''
  return unit === 'tokens' ? `${amount}` : `${(amount / 1e9).toFixed(9).replace(/\.?0+$/, '')}USD`
}
