//! Text in columns.

/// Rows of cells; every column is as wide as its widest cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    gap: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a line of titles. `gap` is how many spaces stand between two columns.
    #[must_use]
    pub fn new(gap: usize, titles: &[&str]) -> Self {
        let mut table = Self {
            gap,
            rows: Vec::new(),
        };
        table.row(titles.iter().copied());
        table
    }

    /// Adds a row. A line feed in a cell would be another row: it becomes a space.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cell = |cell: S| cell.into().replace(['\n', '\r', '\t'], " ");
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// The text. The last cell of a row is not filled up, as Go's `text/tabwriter` does it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let width = cell.chars().count();
                match widths.get_mut(column) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                text.push_str(cell);
                if column + 1 < row.len() {
                    let fill = widths[column] - cell.chars().count() + self.gap;
                    text.extend(std::iter::repeat_n(' ', fill));
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_the_last_is_not_filled_up() {
        let mut table = Table::new(2, &["NAME", "ABOUT"]);
        table.row(["é", "two\nlines"]);
        table.row(["longer", ""]);
        assert_eq!(table.text(), "NAME    ABOUT\né       two lines\nlonger  \n");
    }
}
