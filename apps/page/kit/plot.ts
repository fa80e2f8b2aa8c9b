// Numbers over time as a plot. The page has them as text too.

import uPlot from 'uplot'
import { number } from '../../terminal/text/quantities.ts'

/** `colour`: a class of the style. A later series is drawn over an earlier one. */
export type Series = { colour: string; shape: 'bars' | 'line'; values: (number | null)[] }

/**
 * `least`: the top of the axis, at least. `unit`: after each number of the axis. `x`: times in
 * milliseconds, or numbers.
 */
export type ChartOptions = { least?: number; unit?: string; x?: 'times' | 'numbers' }

type Drawn = { plot: uPlot; data: string; width: number; isDark: boolean }

const drawn = new WeakMap<HTMLElement, Drawn>()
const dark = matchMedia('(prefers-color-scheme: dark)')

/**
 * For the `ref` of an element. `xs`: in order. Draws again only for other data, another width or
 * other colours.
 */
export function chart(
  xs: number[],
  series: Series[],
  options: ChartOptions = {},
): (node: HTMLElement | null) => void {
  return (node) => {
    if (node === null || node.clientWidth === 0) return
    const width = node.clientWidth
    const columns: uPlot.AlignedData = [
      options.x === 'numbers' ? xs : xs.map((at) => at / 1000),
      ...series.map(({ values }) => values),
    ]
    const data = JSON.stringify(columns)
    const known = drawn.get(node)
    if (known !== undefined && known.width === width && known.isDark === dark.matches) {
      if (known.data !== data) known.plot.setData(columns)
      known.data = data
      return
    }
    known?.plot.destroy()
    drawn.set(node, {
      plot: new uPlot(optionsOf(node, { ...options, width, series }), columns, node),
      data,
      width,
      isDark: dark.matches,
    })
  }
}

type Size = ChartOptions & { width: number; series: Series[] }

function optionsOf(
  node: HTMLElement,
  { least = 4, unit = '', x = 'times', width, series }: Size,
): uPlot.Options {
  const axis = {
    stroke: colour(node, 'faint'),
    grid: { stroke: colour(node, 'grid'), width: 1 },
    font: '12px sans-serif',
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 12] })
  return {
    width,
    height: 130,
    // All pages show times in UTC.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    cursor: { show: false },
    legend: { show: false },
    scales: {
      x: { time: x === 'times' },
      y: { range: (_, __, most) => [0, Math.max(least, most)] },
    },
    axes: [
      x === 'times'
        ? { ...axis, values: (_, at) => at.map(timeOfDay) }
        : { ...axis, values: (_, all) => all.map(number), incrs },
      {
        ...axis,
        size: (_, labels) => axisWidth(labels ?? []),
        values: (_, all) => all.map((y) => `${number(y)}${unit}`),
        incrs,
      },
    ],
    series: [
      {},
      ...series.map(({ colour: name, shape }) => ({
        label: name,
        ...(shape === 'line'
          ? {
              stroke: colour(node, name),
              width: 2,
              spanGaps: true,
              points: { show: true, size: 6, fill: colour(node, name) },
            }
          : {
              fill: colour(node, name),
              width: 0,
              points: { show: false },
              ...(bars && { paths: bars }),
            }),
      })),
    ],
  }
}

/** Whole numbers, up to those of days in milliseconds. */
const incrs = Array.from({ length: 9 }, (_, zeros) => [1, 2, 5].map((n) => n * 10 ** zeros)).flat()

/** The ticks and their labels, with 7 pixels for each character. */
function axisWidth(labels: readonly string[]): number {
  return 20 + 7 * Math.max(3, ...labels.map((label) => label.length))
}

/** The style has the colours, for both themes. */
function colour(node: HTMLElement, name: string): string {
  const probe = document.createElement('i')
  probe.className = `probe ${name}`
  node.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** `17:05`, in the time of the reader. */
function timeOfDay(seconds: number): string {
  const at = new Date(seconds * 1000)
  return [at.getHours(), at.getMinutes()].map((part) => `${part}`.padStart(2, '0')).join(':')
}
