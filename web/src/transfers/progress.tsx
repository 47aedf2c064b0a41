// In charge of: the progress of one upload: bar, amount, speed, remaining time, and its actions.
import { Icon } from '../parts/icon.tsx'
import { Bar } from '../parts/progress.tsx'
import { formatBytes, formatDuration, lastQuarter, formatRate as spellRate } from '../text/format.ts'
import { secondsLeft } from './rate.ts'
import { canPause, pause, rateOfTransfer, remove, resume, type Transfer } from './store.ts'

const percentOf = ({ sent, file }: Transfer): number => (file.size > 0 ? Math.floor((sent / file.size) * 100) : 0)

/** "12.3 MB of 90 MB · 8.4 MB/s · 9 s left". */
function situation(transfer: Transfer): string {
  const { state, sent, file } = transfer
  const amount = `${formatBytes(sent)} of ${formatBytes(file.size)}`
  if (state === 'waiting') return `${formatBytes(file.size)} · starts after the uploads before it`
  if (state === 'paused') return `Paused at ${amount}`
  const rate = rateOfTransfer(transfer)
  const left = secondsLeft(file.size, sent, rate)
  const parts = [
    amount,
    rate === null ? null : spellRate(rate),
    left === null ? null : `${formatDuration(Math.ceil(left))} left`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

/** An upload that is not complete yet. */
export function TransferProgress({ transfer }: { transfer: Transfer }) {
  const { state, file, failure } = transfer
  return (
    <div class="stack tight">
      {state === 'failed' && failure ? (
        <p class="problem">
          {failure.message} {failure.advice}
        </p>
      ) : (
        <>
          <Bar slim label={`Upload of ${file.name}`} percent={percentOf(transfer)} />
          <p class="help figures">{situation(transfer)}</p>
        </>
      )}
      <p class="hidden" role="status">
        {announcement(transfer)}
      </p>
    </div>
  )
}

function announcement(transfer: Transfer): string {
  const { state, file } = transfer
  if (state === 'paused') return `Upload of ${file.name} paused.`
  if (state === 'failed') return `Upload of ${file.name} failed.`
  return state === 'sending' ? `Upload of ${file.name}: ${lastQuarter(percentOf(transfer))} %.` : ''
}

interface TransferButtonsProps {
  transfer: Transfer
  /** In addition to removing it from the list. */
  onRemove?: () => void
}

export function TransferButtons({ transfer, onRemove }: TransferButtonsProps) {
  const { id, file, state } = transfer
  const stoppable = state !== 'stored'
  return (
    <div class="line">
      {canPause(transfer) ? (
        <IconButton icon="pause" label={`Pause the upload of ${file.name}`} onClick={() => pause(id)} />
      ) : null}
      {state === 'paused' ? (
        <IconButton icon="play" label={`Resume the upload of ${file.name}`} onClick={() => resume(id)} />
      ) : null}
      {state === 'failed' ? (
        <IconButton icon="retry" label={`Retry the upload of ${file.name}`} onClick={() => resume(id)} />
      ) : null}
      <IconButton
        icon="close"
        label={stoppable ? `Cancel the upload of ${file.name}` : `Remove ${file.name}`}
        onClick={() => {
          remove(id)
          onRemove?.()
        }}
      />
    </div>
  )
}

interface IconButtonProps {
  icon: Parameters<typeof Icon>[0]['name']
  label: string
  onClick: () => void
}

export function IconButton({ icon, label, onClick }: IconButtonProps) {
  return (
    <button type="button" class="small quiet" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}
