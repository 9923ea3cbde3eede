// An application of one page, as routers make them: links change the address without loading.
const show = () => { document.querySelector('h1').textContent = location.pathname.split('/').at(-1); };
document.querySelector('nav').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  show();
});
addEventListener('popstate', show);
