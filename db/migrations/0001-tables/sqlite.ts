/** The tables of version 0.1.0 on SQLite, each after the tables that it refers to. */
export const sqliteTables = [
  `CREATE TABLE IF NOT EXISTS workspace (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL DEFAULT '',
    slug VARCHAR(48) NOT NULL DEFAULT '',
    owner_id VARCHAR(36) NOT NULL,
    touched TINYINT(1) NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS workspace_slug
    ON workspace (slug)`,
  `CREATE INDEX IF NOT EXISTS workspace_owner_id
    ON workspace (owner_id)`,
  `CREATE TABLE IF NOT EXISTS plan (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL DEFAULT '',
    max_file_size_bytes BIGINT NOT NULL,
    max_total_storage_bytes BIGINT NOT NULL,
    max_files BIGINT,
    max_user_workspaces BIGINT NOT NULL,
    max_files_workspace BIGINT,
    max_total_storage_bytes_workspace BIGINT NOT NULL,
    max_users_workspace BIGINT NOT NULL,
    max_workspace_folders BIGINT,
    max_private_api_keys BIGINT NOT NULL,
    max_workspace_api_keys BIGINT NOT NULL,
    max_folders BIGINT,
    max_public_links BIGINT,
    max_pending_invites BIGINT,
    max_notes BIGINT,
    is_default TINYINT(1) NOT NULL DEFAULT 0,
    retired_at BIGINT
  )`,
  `CREATE TABLE IF NOT EXISTS user (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    email VARCHAR(320) NOT NULL DEFAULT '',
    verified_email VARCHAR(320),
    name VARCHAR(255) NOT NULL DEFAULT '',
    given_name VARCHAR(255) NOT NULL DEFAULT '',
    family_name VARCHAR(255) NOT NULL DEFAULT '',
    picture VARCHAR(2048) NOT NULL DEFAULT '',
    locale VARCHAR(35) NOT NULL DEFAULT '',
    plan_id VARCHAR(32) NOT NULL REFERENCES plan (id) ON DELETE RESTRICT,
    plan_by VARCHAR(16) NOT NULL DEFAULT 'default',
    status VARCHAR(16) NOT NULL DEFAULT '',
    touched TINYINT(1) NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    sign_in_notices TINYINT(1) NOT NULL DEFAULT 0
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS user_verified_email
    ON user (verified_email)`,
  `CREATE TABLE IF NOT EXISTS api_key (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    hash VARCHAR(64) NOT NULL,
    hint VARCHAR(8) NOT NULL DEFAULT '',
    name VARCHAR(100) NOT NULL DEFAULT '',
    description VARCHAR(1000) NOT NULL DEFAULT '',
    scopes VARCHAR(1000) NOT NULL DEFAULT '',
    workspace_id VARCHAR(36) REFERENCES workspace (id) ON DELETE CASCADE,
    created_by VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    touched TINYINT(1) NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    expires_at BIGINT
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS api_key_hash
    ON api_key (hash)`,
  `CREATE INDEX IF NOT EXISTS api_key_workspace_id_created_at
    ON api_key (workspace_id, created_at)`,
  `CREATE INDEX IF NOT EXISTS api_key_created_by_created_at
    ON api_key (created_by, created_at)`,
  `CREATE TABLE IF NOT EXISTS backup_run (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    finished_at BIGINT NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX IF NOT EXISTS backup_run_finished_at
    ON backup_run (finished_at)`,
  `CREATE TABLE IF NOT EXISTS blobs (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    bucket_id VARCHAR(36) NOT NULL,
    state VARCHAR(8) NOT NULL DEFAULT '',
    reserved_bytes BIGINT NOT NULL DEFAULT 0,
    size BIGINT NOT NULL DEFAULT 0,
    crc32 VARCHAR(8),
    sha256 VARCHAR(64),
    ref_count BIGINT NOT NULL DEFAULT 1,
    lease_until BIGINT NOT NULL,
    store INTEGER NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS blobs_state_lease_until_size
    ON blobs (state, lease_until, size)`,
  `CREATE INDEX IF NOT EXISTS blobs_sha256
    ON blobs (sha256)`,
  `CREATE TABLE IF NOT EXISTS bucket (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    user_id VARCHAR(36),
    workspace_id VARCHAR(36),
    root_id VARCHAR(36) NOT NULL,
    used_bytes BIGINT NOT NULL DEFAULT 0,
    used_files BIGINT NOT NULL DEFAULT 0,
    used_folders BIGINT NOT NULL DEFAULT 0,
    reserved_bytes BIGINT NOT NULL DEFAULT 0,
    reserved_files BIGINT NOT NULL DEFAULT 0,
    link_count BIGINT NOT NULL DEFAULT 0,
    note_count BIGINT NOT NULL DEFAULT 0,
    purging BIGINT NOT NULL DEFAULT 0,
    trash_count BIGINT NOT NULL DEFAULT 0,
    kept_bytes BIGINT NOT NULL DEFAULT 0,
    kept_for VARCHAR(320),
    kept_until BIGINT,
    kept_providers TEXT,
    touched TINYINT(1) NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS bucket_user_id
    ON bucket (user_id)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS bucket_workspace_id
    ON bucket (workspace_id)`,
  `CREATE INDEX IF NOT EXISTS bucket_kept_for
    ON bucket (kept_for)`,
  `CREATE INDEX IF NOT EXISTS bucket_kept_until
    ON bucket (kept_until)`,
  `CREATE INDEX IF NOT EXISTS bucket_kept_bytes
    ON bucket (kept_bytes)`,
  `CREATE TABLE IF NOT EXISTS entry (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    bucket_id VARCHAR(36) NOT NULL,
    parent_id VARCHAR(36),
    kind TINYINT NOT NULL,
    name VARCHAR(255) NOT NULL DEFAULT '',
    blob_id VARCHAR(36),
    file_type VARCHAR(127) NOT NULL DEFAULT '',
    md5 VARCHAR(32) NOT NULL DEFAULT '',
    total_bytes BIGINT NOT NULL DEFAULT 0,
    total_files BIGINT NOT NULL DEFAULT 0,
    total_folders BIGINT NOT NULL DEFAULT 0,
    levels_below INTEGER NOT NULL DEFAULT 0,
    bytes_below INTEGER NOT NULL DEFAULT 0,
    created_by VARCHAR(36),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    content_by VARCHAR(36),
    content_at BIGINT,
    modified_at BIGINT,
    pictured_at BIGINT,
    revision BIGINT NOT NULL DEFAULT 1
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS entry_parent_id_name
    ON entry (parent_id, name)`,
  `CREATE INDEX IF NOT EXISTS entry_blob_id
    ON entry (blob_id)`,
  `CREATE INDEX IF NOT EXISTS entry_parent_id_kind_name
    ON entry (parent_id, kind, name)`,
  `CREATE INDEX IF NOT EXISTS entry_parent_id_total_bytes_id
    ON entry (parent_id, total_bytes, id)`,
  `CREATE INDEX IF NOT EXISTS entry_parent_id_updated_at_id
    ON entry (parent_id, updated_at, id)`,
  `CREATE INDEX IF NOT EXISTS entry_bucket_id_kind_id
    ON entry (bucket_id, kind, id)`,
  `CREATE INDEX IF NOT EXISTS entry_bucket_id_md5
    ON entry (bucket_id, md5)`,
  `CREATE INDEX IF NOT EXISTS entry_bucket_id_pictured_at_id_parent_id
    ON entry (bucket_id, pictured_at, id, parent_id)`,
  `CREATE TABLE IF NOT EXISTS dav_lock (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    bucket_id VARCHAR(36) NOT NULL,
    entry_id VARCHAR(36) NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    is_shared TINYINT(1) NOT NULL,
    is_deep TINYINT(1) NOT NULL,
    owner TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS dav_lock_bucket_id_expires_at
    ON dav_lock (bucket_id, expires_at)`,
  `CREATE INDEX IF NOT EXISTS dav_lock_user_id
    ON dav_lock (user_id)`,
  `CREATE INDEX IF NOT EXISTS dav_lock_entry_id
    ON dav_lock (entry_id)`,
  `CREATE TABLE IF NOT EXISTS dav_property (
    entry_id VARCHAR(36) NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
    name_hash VARCHAR(64) NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (entry_id, name_hash)
  )`,
  `CREATE TABLE IF NOT EXISTS deletion_hold (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS entry_copy (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    user_id VARCHAR(36) NOT NULL,
    bucket_id VARCHAR(36) NOT NULL,
    stage_id VARCHAR(36),
    state VARCHAR(10) NOT NULL,
    plan TEXT NOT NULL,
    entries BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    copied_files BIGINT NOT NULL DEFAULT 0,
    copied_folders BIGINT NOT NULL DEFAULT 0,
    copied_bytes BIGINT NOT NULL DEFAULT 0,
    reserved_files BIGINT NOT NULL DEFAULT 0,
    reserved_bytes BIGINT NOT NULL DEFAULT 0,
    result TEXT,
    failure TEXT,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
  )`,
  `CREATE INDEX IF NOT EXISTS entry_copy_user_id_id
    ON entry_copy (user_id, id)`,
  `CREATE INDEX IF NOT EXISTS entry_copy_bucket_id
    ON entry_copy (bucket_id)`,
  `CREATE INDEX IF NOT EXISTS entry_copy_ended_at
    ON entry_copy (ended_at)`,
  `CREATE TABLE IF NOT EXISTS entry_copy_folder (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    copy_id VARCHAR(36) NOT NULL REFERENCES entry_copy (id) ON DELETE CASCADE,
    source_id VARCHAR(36) NOT NULL,
    top_id VARCHAR(36) NOT NULL,
    last_name VARCHAR(255) NOT NULL DEFAULT ''
  )`,
  `CREATE INDEX IF NOT EXISTS entry_copy_folder_copy_id_id
    ON entry_copy_folder (copy_id, id)`,
  `CREATE TABLE IF NOT EXISTS tag (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    bucket_id VARCHAR(36) NOT NULL REFERENCES bucket (id) ON DELETE CASCADE,
    name VARCHAR(255) NOT NULL DEFAULT '',
    name_key VARCHAR(255) NOT NULL DEFAULT '',
    colour VARCHAR(8) NOT NULL,
    created_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS tag_bucket_id_name_key
    ON tag (bucket_id, name_key)`,
  `CREATE TABLE IF NOT EXISTS entry_tag (
    tag_id VARCHAR(36) NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
    entry_id VARCHAR(36) NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, entry_id)
  )`,
  `CREATE INDEX IF NOT EXISTS entry_tag_entry_id
    ON entry_tag (entry_id)`,
  `CREATE TABLE IF NOT EXISTS event (
    log_id VARCHAR(36) NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor_id VARCHAR(36),
    via VARCHAR(8) NOT NULL,
    via_id VARCHAR(36),
    kind VARCHAR(32) NOT NULL,
    subject_id VARCHAR(36),
    entry_id VARCHAR(36),
    details TEXT NOT NULL,
    address VARCHAR(64),
    agent VARCHAR(200),
    operator_id VARCHAR(36),
    PRIMARY KEY (log_id, seq)
  )`,
  `CREATE INDEX IF NOT EXISTS event_at
    ON event (at)`,
  `CREATE INDEX IF NOT EXISTS event_entry_id_seq
    ON event (entry_id, seq)`,
  `CREATE INDEX IF NOT EXISTS event_actor_id_at
    ON event (actor_id, at)`,
  `CREATE INDEX IF NOT EXISTS event_address_at
    ON event (address, at)`,
  `CREATE INDEX IF NOT EXISTS event_kind_at
    ON event (kind, at)`,
  `CREATE INDEX IF NOT EXISTS event_operator_id_at
    ON event (operator_id, at)`,
  `CREATE INDEX IF NOT EXISTS event_via_id_at
    ON event (via_id, at)`,
  `CREATE TABLE IF NOT EXISTS event_log (
    log_id VARCHAR(36) NOT NULL PRIMARY KEY,
    purged_seq BIGINT NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS share (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    entry_id VARCHAR(36) NOT NULL,
    entry_count INTEGER,
    bucket_id VARCHAR(36) NOT NULL,
    user_id VARCHAR(36) NOT NULL,
    recipient VARCHAR(320),
    label VARCHAR(100) NOT NULL DEFAULT '',
    password_hash VARCHAR(255),
    max_downloads BIGINT,
    downloads BIGINT NOT NULL DEFAULT 0,
    allow_download TINYINT(1) NOT NULL DEFAULT 1,
    may_edit TINYINT(1) NOT NULL DEFAULT 0,
    notifies TINYINT(1) NOT NULL DEFAULT 0,
    notified_at BIGINT NOT NULL DEFAULT 0,
    mail_waits TINYINT(1) NOT NULL DEFAULT 0,
    seen_at BIGINT,
    touched TINYINT(1) NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS share_entry_id_recipient
    ON share (entry_id, recipient)`,
  `CREATE INDEX IF NOT EXISTS share_user_id_id
    ON share (user_id, id)`,
  `CREATE INDEX IF NOT EXISTS share_recipient_id
    ON share (recipient, id)`,
  `CREATE INDEX IF NOT EXISTS share_bucket_id
    ON share (bucket_id)`,
  `CREATE INDEX IF NOT EXISTS share_expires_at
    ON share (expires_at)`,
  `CREATE TABLE IF NOT EXISTS favourite (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    entry_id VARCHAR(36) REFERENCES entry (id) ON DELETE CASCADE,
    share_id VARCHAR(36) REFERENCES share (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    created_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS favourite_user_id_entry_id
    ON favourite (user_id, entry_id)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS favourite_user_id_share_id
    ON favourite (user_id, share_id)`,
  `CREATE INDEX IF NOT EXISTS favourite_entry_id
    ON favourite (entry_id)`,
  `CREATE INDEX IF NOT EXISTS favourite_share_id
    ON favourite (share_id)`,
  `CREATE TABLE IF NOT EXISTS file_request (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    bucket_id VARCHAR(36) NOT NULL,
    folder_id VARCHAR(36) NOT NULL,
    label VARCHAR(100) NOT NULL DEFAULT '',
    message VARCHAR(1000) NOT NULL DEFAULT '',
    password_hash VARCHAR(255),
    max_files BIGINT,
    max_file_bytes BIGINT,
    max_bytes BIGINT,
    kinds VARCHAR(1000) NOT NULL DEFAULT '',
    asks_name TINYINT(1) NOT NULL,
    notifies TINYINT(1) NOT NULL,
    files BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    reserved_files BIGINT NOT NULL DEFAULT 0,
    reserved_bytes BIGINT NOT NULL DEFAULT 0,
    notified_at BIGINT NOT NULL DEFAULT 0,
    mail_waits TINYINT(1) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    closed_at BIGINT
  )`,
  `CREATE INDEX IF NOT EXISTS file_request_user_id_id
    ON file_request (user_id, id)`,
  `CREATE INDEX IF NOT EXISTS file_request_folder_id
    ON file_request (folder_id)`,
  `CREATE TABLE IF NOT EXISTS file_request_upload (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    request_id VARCHAR(36) NOT NULL REFERENCES file_request (id) ON DELETE CASCADE,
    sender_id VARCHAR(36) NOT NULL,
    sender_name VARCHAR(100) NOT NULL DEFAULT '',
    file_name VARCHAR(255) NOT NULL DEFAULT '',
    bytes BIGINT NOT NULL,
    network VARCHAR(64) NOT NULL,
    client VARCHAR(200) NOT NULL DEFAULT '',
    started_at BIGINT NOT NULL,
    received_at BIGINT,
    entry_id VARCHAR(36)
  )`,
  `CREATE INDEX IF NOT EXISTS file_request_upload_received_at
    ON file_request_upload (received_at)`,
  `CREATE INDEX IF NOT EXISTS file_request_upload_request_id_received_at
    ON file_request_upload (request_id, received_at)`,
  `CREATE INDEX IF NOT EXISTS file_request_upload_request_id_sender_id
    ON file_request_upload (request_id, sender_id)`,
  `CREATE TABLE IF NOT EXISTS identity (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    provider VARCHAR(64) NOT NULL DEFAULT '',
    provider_user_id VARCHAR(255) NOT NULL DEFAULT '',
    email VARCHAR(320) NOT NULL DEFAULT '',
    email_verified TINYINT(1) NOT NULL,
    name VARCHAR(255) NOT NULL DEFAULT '',
    avatar_url VARCHAR(2048) NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS identity_provider_provider_user_id
    ON identity (provider, provider_user_id)`,
  `CREATE TABLE IF NOT EXISTS installation (
    slot INTEGER PRIMARY KEY,
    id VARCHAR(36) NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS instance_state (
    name VARCHAR(255) NOT NULL PRIMARY KEY,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    alarms TEXT NOT NULL,
    store INTEGER NOT NULL DEFAULT 0
  )`,
  `CREATE TABLE IF NOT EXISTS invite (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    workspace_id VARCHAR(36) NOT NULL REFERENCES workspace (id) ON DELETE CASCADE,
    email VARCHAR(320) NOT NULL DEFAULT '',
    role VARCHAR(8) NOT NULL DEFAULT '',
    invited_by VARCHAR(36) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS invite_workspace_id_email
    ON invite (workspace_id, email)`,
  `CREATE INDEX IF NOT EXISTS invite_email
    ON invite (email)`,
  `CREATE INDEX IF NOT EXISTS invite_invited_by
    ON invite (invited_by)`,
  `CREATE TABLE IF NOT EXISTS outbox (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    kind VARCHAR(32) NOT NULL DEFAULT '',
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL,
    last_error VARCHAR(500) NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS outbox_kind_due_at
    ON outbox (kind, due_at)`,
  `CREATE TABLE IF NOT EXISTS login_request (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    code_hash VARCHAR(64) NOT NULL,
    user_code VARCHAR(64),
    state VARCHAR(8) NOT NULL,
    client_id VARCHAR(64) NOT NULL DEFAULT '',
    name VARCHAR(100) NOT NULL DEFAULT '',
    scopes VARCHAR(1000) NOT NULL DEFAULT '',
    lifetime BIGINT NOT NULL,
    challenge VARCHAR(43) NOT NULL DEFAULT '',
    redirect_uri VARCHAR(200) NOT NULL DEFAULT '',
    network VARCHAR(64) NOT NULL DEFAULT '',
    user_id VARCHAR(36) REFERENCES user (id) ON DELETE CASCADE,
    session_id VARCHAR(36),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    polled_at BIGINT,
    poll_interval INTEGER NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS login_request_code_hash
    ON login_request (code_hash)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS login_request_user_code
    ON login_request (user_code)`,
  `CREATE INDEX IF NOT EXISTS login_request_expires_at
    ON login_request (expires_at)`,
  `CREATE INDEX IF NOT EXISTS login_request_user_id
    ON login_request (user_id)`,
  `CREATE TABLE IF NOT EXISTS mail_notice (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    recipient_id VARCHAR(36) NOT NULL,
    sender_id VARCHAR(36) NOT NULL,
    about VARCHAR(64) NOT NULL,
    sent_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS mail_notice_recipient_id_sent_at
    ON mail_notice (recipient_id, sent_at)`,
  `CREATE INDEX IF NOT EXISTS mail_notice_sent_at
    ON mail_notice (sent_at)`,
  `CREATE TABLE IF NOT EXISTS mail_recipient (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    address_hash VARCHAR(64) NOT NULL,
    stopped_at BIGINT,
    created_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS mail_recipient_address_hash
    ON mail_recipient (address_hash)`,
  `CREATE TABLE IF NOT EXISTS maintenance (
    slot INTEGER PRIMARY KEY,
    started_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    message VARCHAR(500) NOT NULL DEFAULT '',
    started_by VARCHAR(36)
  )`,
  `CREATE TABLE IF NOT EXISTS member (
    workspace_id VARCHAR(36) NOT NULL REFERENCES workspace (id) ON DELETE CASCADE,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    role VARCHAR(8) NOT NULL DEFAULT '',
    joined_at BIGINT NOT NULL,
    provider VARCHAR(64),
    PRIMARY KEY (workspace_id, user_id)
  )`,
  `CREATE INDEX IF NOT EXISTS member_user_id
    ON member (user_id)`,
  `CREATE TABLE IF NOT EXISTS note (
    bucket_id VARCHAR(36) NOT NULL,
    checksum VARCHAR(32) NOT NULL,
    content TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (bucket_id, checksum)
  )`,
  `CREATE TABLE IF NOT EXISTS operator (
    user_id VARCHAR(36) NOT NULL PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
    appointed_by VARCHAR(36) NOT NULL,
    appointed_at BIGINT NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS own_limit (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    user_id VARCHAR(36) REFERENCES user (id) ON DELETE CASCADE,
    workspace_id VARCHAR(36) REFERENCES workspace (id) ON DELETE CASCADE,
    max_file_size_bytes BIGINT,
    max_total_storage_bytes BIGINT,
    max_files BIGINT,
    max_user_workspaces BIGINT,
    max_files_workspace BIGINT,
    max_total_storage_bytes_workspace BIGINT,
    max_users_workspace BIGINT,
    max_workspace_folders BIGINT,
    max_private_api_keys BIGINT,
    max_workspace_api_keys BIGINT,
    max_folders BIGINT,
    max_public_links BIGINT,
    max_pending_invites BIGINT,
    max_notes BIGINT,
    changed_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS own_limit_user_id
    ON own_limit (user_id)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS own_limit_workspace_id
    ON own_limit (workspace_id)`,
  `CREATE TABLE IF NOT EXISTS preview (
    digest VARCHAR(64) NOT NULL PRIMARY KEY,
    state VARCHAR(8) NOT NULL,
    reason VARCHAR(16),
    lease_until BIGINT NOT NULL,
    blob_id VARCHAR(36),
    large_bytes INTEGER NOT NULL DEFAULT 0,
    small_bytes INTEGER NOT NULL DEFAULT 0,
    width INTEGER,
    height INTEGER,
    orientation INTEGER,
    placeholder VARCHAR(64),
    taken_at BIGINT,
    details TEXT,
    created_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS preview_blob_id
    ON preview (blob_id)`,
  `CREATE TABLE IF NOT EXISTS session (
    hash VARCHAR(64) NOT NULL PRIMARY KEY,
    id VARCHAR(36) NOT NULL,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    touched TINYINT(1) NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    device VARCHAR(200) NOT NULL DEFAULT '',
    address VARCHAR(64) NOT NULL DEFAULT '',
    provider VARCHAR(64),
    provider_session VARCHAR(64)
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS session_id
    ON session (id)`,
  `CREATE INDEX IF NOT EXISTS session_expires_at
    ON session (expires_at)`,
  `CREATE INDEX IF NOT EXISTS session_provider_session
    ON session (provider_session)`,
  `CREATE INDEX IF NOT EXISTS session_user_id_last_used_at
    ON session (user_id, last_used_at)`,
  `CREATE TABLE IF NOT EXISTS share_entry (
    share_id VARCHAR(36) NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    entry_id VARCHAR(36) NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (share_id, entry_id)
  )`,
  `CREATE INDEX IF NOT EXISTS share_entry_entry_id
    ON share_entry (entry_id)`,
  `CREATE TABLE IF NOT EXISTS share_event (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    share_id VARCHAR(36) NOT NULL,
    at BIGINT NOT NULL,
    kind VARCHAR(16) NOT NULL,
    person_id VARCHAR(36),
    network VARCHAR(64) NOT NULL,
    client VARCHAR(200) NOT NULL DEFAULT ''
  )`,
  `CREATE INDEX IF NOT EXISTS share_event_share_id_id
    ON share_event (share_id, id)`,
  `CREATE TABLE IF NOT EXISTS share_use (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    left_bytes BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS share_use_expires_at
    ON share_use (expires_at)`,
  `CREATE TABLE IF NOT EXISTS storage_day (
    day INTEGER PRIMARY KEY,
    used_bytes BIGINT NOT NULL DEFAULT 0,
    kept_bytes BIGINT NOT NULL DEFAULT 0,
    at BIGINT NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS store_move (
    number INTEGER PRIMARY KEY,
    source VARCHAR(500) NOT NULL DEFAULT '',
    target VARCHAR(500) NOT NULL DEFAULT '',
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    claim VARCHAR(36),
    claim_until BIGINT NOT NULL DEFAULT 0,
    touched TINYINT(1) NOT NULL DEFAULT 0
  )`,
  `CREATE TABLE IF NOT EXISTS trash_item (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    bucket_id VARCHAR(36) NOT NULL,
    entry_id VARCHAR(36) NOT NULL,
    parent_id VARCHAR(36) NOT NULL,
    path TEXT NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0,
    files BIGINT NOT NULL DEFAULT 0,
    folders BIGINT NOT NULL DEFAULT 0,
    deleted_by VARCHAR(36),
    deleted_at BIGINT NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS trash_item_entry_id
    ON trash_item (entry_id)`,
  `CREATE INDEX IF NOT EXISTS trash_item_bucket_id_id
    ON trash_item (bucket_id, id)`,
  `CREATE INDEX IF NOT EXISTS trash_item_deleted_at
    ON trash_item (deleted_at)`,
  `CREATE TABLE IF NOT EXISTS upload_session (
    id VARCHAR(36) NOT NULL PRIMARY KEY REFERENCES blobs (id) ON DELETE CASCADE,
    bucket_id VARCHAR(36) NOT NULL,
    user_id VARCHAR(36) NOT NULL,
    share_id VARCHAR(36),
    path VARCHAR(1024) NOT NULL DEFAULT '',
    file_type VARCHAR(127) NOT NULL DEFAULT '',
    size BIGINT NOT NULL,
    part_size BIGINT NOT NULL,
    direct TINYINT(1) NOT NULL,
    writable_until BIGINT NOT NULL,
    claim VARCHAR(36),
    claim_until BIGINT NOT NULL,
    on_conflict VARCHAR(9) NOT NULL DEFAULT 'fail',
    modified_at BIGINT,
    created_at BIGINT NOT NULL,
    state VARCHAR(10),
    completion TEXT,
    failure TEXT,
    checked BIGINT NOT NULL DEFAULT 0,
    file_id VARCHAR(36),
    md5 VARCHAR(32)
  )`,
  `CREATE INDEX IF NOT EXISTS upload_session_bucket_id
    ON upload_session (bucket_id)`,
  `CREATE INDEX IF NOT EXISTS upload_session_state_claim_until
    ON upload_session (state, claim_until)`,
  `CREATE TABLE IF NOT EXISTS upload_piece (
    id VARCHAR(36) NOT NULL PRIMARY KEY REFERENCES blobs (id) ON DELETE CASCADE,
    upload_id VARCHAR(36) NOT NULL REFERENCES upload_session (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    size BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS upload_piece_upload_id_position
    ON upload_piece (upload_id, position)`,
  `CREATE TABLE IF NOT EXISTS upload_stream (
    id VARCHAR(36) NOT NULL PRIMARY KEY REFERENCES upload_session (id) ON DELETE CASCADE,
    kind VARCHAR(7) NOT NULL,
    arrived BIGINT NOT NULL,
    metadata TEXT NOT NULL,
    writer VARCHAR(36),
    writer_until BIGINT NOT NULL,
    is_wanted TINYINT(1) NOT NULL,
    parts TEXT
  )`,
  `CREATE TABLE IF NOT EXISTS version (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    bucket_id VARCHAR(36) NOT NULL,
    entry_id VARCHAR(36) NOT NULL,
    blob_id VARCHAR(36) NOT NULL,
    file_type VARCHAR(127) NOT NULL DEFAULT '',
    md5 VARCHAR(32) NOT NULL DEFAULT '',
    bytes BIGINT NOT NULL,
    created_by VARCHAR(36),
    created_at BIGINT NOT NULL,
    modified_at BIGINT,
    replaced_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS version_blob_id
    ON version (blob_id)`,
  `CREATE INDEX IF NOT EXISTS version_entry_id_id
    ON version (entry_id, id)`,
  `CREATE INDEX IF NOT EXISTS version_bucket_id_id
    ON version (bucket_id, id)`,
  `CREATE INDEX IF NOT EXISTS version_replaced_at
    ON version (replaced_at)`,
  `CREATE TABLE IF NOT EXISTS webhook (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    log_id VARCHAR(36) NOT NULL,
    user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    workspace_id VARCHAR(36) REFERENCES workspace (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    kinds TEXT NOT NULL,
    state VARCHAR(8) NOT NULL,
    seq BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    failing_since BIGINT,
    due_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    secret_number INTEGER NOT NULL DEFAULT 0,
    old_secret_ends_at BIGINT,
    created_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS webhook_user_id
    ON webhook (user_id)`,
  `CREATE INDEX IF NOT EXISTS webhook_workspace_id
    ON webhook (workspace_id)`,
  `CREATE INDEX IF NOT EXISTS webhook_state_due_at
    ON webhook (state, due_at)`,
  `CREATE TABLE IF NOT EXISTS webhook_delivery (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    webhook_id VARCHAR(36) NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id VARCHAR(80) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    at BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER,
    failure VARCHAR(64),
    milliseconds INTEGER NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS webhook_delivery_webhook_id_id
    ON webhook_delivery (webhook_id, id)`,
]
