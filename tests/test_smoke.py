"""The heavy packages fit together: a mixed numpy and pyarrow fails only when a table is drawn."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def test_numpy_pandas_and_pyarrow_draw_a_table_together() -> None:
    import numpy
    import pyarrow

    assert pyarrow.array(numpy.arange(3)).to_pylist() == [0, 1, 2]
    app = AppTest.from_string("import pandas, streamlit\nstreamlit.dataframe(pandas.DataFrame({'a': [1, 2]}))").run()
    assert not app.exception
    assert list(app.dataframe[0].value["a"]) == [1, 2]
