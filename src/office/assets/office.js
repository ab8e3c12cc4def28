/**
 * Adds two things in browsers with JavaScript: the page shows changes unless someone is typing, and
 * it asks before an action that cannot be undone. Every page works without it.
 */

const showPrint = () => {
  for (const button of document.querySelectorAll('[data-print]')) button.hidden = false;
};
const main = document.querySelector('main[data-live]');
if (main !== null && 'EventSource' in window) {
  // The newest state that the server announced; the page shows the state of its own mark.
  let newest = main.dataset.live;
  let is_asking = false;
  const is_changed = (field) => {
    if (field.type === 'checkbox' || field.type === 'radio')
      return field.checked !== field.defaultChecked;
    if (field.tagName !== 'SELECT') return field.value !== field.defaultValue;
    const usual = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
    return field.selectedIndex !== Math.max(usual, 0);
  };
  // A refresh would lose typed text and the keyboard focus.
  const is_busy = () =>
    main.contains(document.activeElement) ||
    [...main.querySelectorAll('input, textarea, select')].some(is_changed);
  let is_over = false;
  // Removes patient data from the screen after the login has ended, but keeps typed text.
  const end = () => {
    if (!is_busy()) return location.reload();
    if (is_over) return;
    is_over = true;
    const told = Object.assign(document.createElement('div'), { className: 'notice bad' });
    told.setAttribute('role', 'alert');
    told.textContent =
      'Your login has ended, and this page is no longer kept up to date. What you have typed is ' +
      'kept when you send it. ';
    const link = { href: '/login', target: '_blank', textContent: 'Log in in another tab' };
    told.append(Object.assign(document.createElement('a'), link));
    main.prepend(told);
  };
  const show = async () => {
    const response = await fetch(location.href, { headers: { 'x-refresh': '1' } });
    if (response.redirected) return end();
    if (is_busy() || !response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.querySelector('main[data-live]');
    if (fresh === null || is_busy()) return;
    const open = [...main.querySelectorAll('details[open][id]')].map(({ id }) => id);
    // The result of the last form; the server sends it only once.
    const notices = main.querySelectorAll(':scope > .notice');
    main.replaceChildren(...notices, ...fresh.childNodes);
    main.dataset.live = fresh.dataset.live;
    showPrint();
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  };
  const refresh = async () => {
    if (is_over) return end();
    if (is_asking || newest === main.dataset.live || document.hidden || is_busy()) return;
    is_asking = true;
    await show().catch(() => {});
    is_asking = false;
  };
  let events = null;
  // Leads a user who is already logged in away from the login page.
  const check = async () => {
    const login = { headers: { 'x-refresh': '1' }, redirect: 'manual' };
    if ((await fetch('/login', login)).ok) end();
  };
  const listen = () => {
    events = new EventSource('/events');
    // A browser reconnects after an interruption, but not after a response that is not a stream.
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return;
      events = null;
      check().catch(() => {});
      setTimeout(() => events === null && !document.hidden && !is_over && listen(), 10_000);
    });
    // The first event comes with each connection, also after a lost one.
    events.addEventListener('changed', ({ data }) => {
      newest = data;
      refresh();
    });
  };
  // Shows changes that arrived while someone was typing or a page was loading.
  setInterval(refresh, 5000);
  // Browsers allow few connections to one address, so a hidden tab closes its own.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else if (events === null) listen();
  });
  if (!document.hidden) listen();
}
document.addEventListener('submit', (event) => {
  const question = event.target.dataset?.confirm;
  if (question === undefined) return;
  if (!window.confirm(question)) return event.preventDefault();
  const sure = Object.assign(document.createElement('input'), { type: 'hidden', name: 'sure' });
  sure.value = 'yes';
  event.target.append(sure);
});
showPrint();
document.addEventListener('click', (event) => {
  if (event.target.closest?.('[data-print]') != null) window.print();
});
