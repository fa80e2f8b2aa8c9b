// The stopped calls and ended turns of each minute, as a chart. The table beside it has the numbers.

import uPlot from 'uplot'
import type { StopsOfMinute } from './console-state.ts'

type Drawn = { plot: uPlot; data: string; width: number; isDark: boolean }

const drawn = new WeakMap<HTMLElement, Drawn>()
const dark = matchMedia('(prefers-color-scheme: dark)')

/** For the `ref` of an element. Draws again only for other data, another width or other colours. */
export function stopsChart(minutes: StopsOfMinute[]): (node: HTMLElement | null) => void {
  return (node) => {
    if (node === null || node.clientWidth === 0) return
    const width = node.clientWidth
    const columns: uPlot.AlignedData = [
      minutes.map(({ at }) => at / 1000),
      minutes.map(({ calls }) => calls),
      minutes.map(({ turns }) => turns),
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
      plot: new uPlot(optionsOf(node, width), columns, node),
      ...{ data, width, isDark: dark.matches },
    })
  }
}

function optionsOf(node: HTMLElement, width: number): uPlot.Options {
  const ink = colour(node, 'faint')
  const axis = {
    stroke: ink,
    grid: { stroke: colour(node, 'grid'), width: 1 },
    font: '12px sans-serif',
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 12] })
  const shape = { width: 0, points: { show: false }, ...(bars && { paths: bars }) }
  return {
    ...{ width, height: 130, cursor: { show: false }, legend: { show: false } },
    scales: { y: { range: (_, __, most) => [0, Math.max(4, most)] } },
    axes: [
      { ...axis, values: (_, at) => at.map(timeOfDay) },
      { ...axis, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
    ],
    series: [
      {},
      { label: 'calls', fill: colour(node, 'calls'), ...shape },
      { label: 'turns', fill: colour(node, 'turns'), ...shape },
    ],
  }
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
