import './over-quota.css'
import { LinkButton } from '../parts/button.tsx'
import { text } from './text.ts'

/** Announces that uploads are blocked, because lowered limits are below the current storage use. */
export const OverQuota = () => (
  <div className="over-quota" role="status">
    <p>{text('overQuota')}</p>
    <LinkButton href="/account">{text('overQuotaMore')}</LinkButton>
  </div>
)
