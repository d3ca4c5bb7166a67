import { formatBytes, formatExact } from '../i18n/format.ts'
import type { Receipt } from './documents.ts'
import { text } from './text.ts'

interface ReceivedProps {
  label: string
  receipts: readonly Receipt[]
  /** Shows from which network and program a file came. */
  isFull?: boolean
}

/** The received files: who sent what, and when. */
export const Received = ({ label, receipts, isFull = false }: ReceivedProps) => (
  <table className="received-files" aria-label={label}>
    <thead>
      <tr>
        <th scope="col">{text('sender')}</th>
        <th scope="col">{text('file')}</th>
        <th scope="col" className="received-size">
          {text('size')}
        </th>
        <th scope="col">{text('receivedAt')}</th>
        {isFull && <th scope="col">{text('cameFrom')}</th>}
      </tr>
    </thead>
    <tbody>
      {receipts.map(({ fileName, size, receivedAt, senderName, network, client }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: receipts have no id, and the list only grows at its other end
        <tr key={at}>
          <td dir="auto">{senderName || <span className="soft">{text('noName')}</span>}</td>
          <td dir="auto">{fileName}</td>
          <td className="received-size">{formatBytes(size)}</td>
          <td>{formatExact(receivedAt)}</td>
          {isFull && (
            <td dir="auto" className="soft">
              {client} · {network}
            </td>
          )}
        </tr>
      ))}
    </tbody>
  </table>
)
